// How the broker of a study hands out candidates.
#pragma once
#include "culmen/broker/broker.hpp"
#include "culmen/evaluation/source.hpp"
#include "culmen/study/config/study_config.hpp"

namespace culmen {

/// For a run of `config` with candidates of `source`. `prefetch`: candidates may wait at workers.
BrokerOptions broker_options_of(const StudyConfig& config, const Source& source, bool prefetch);

}  // namespace culmen
