// Identifies a study: a store with another fingerprint is refused.
#pragma once
#include <cstdint>
#include <string>

#include "culmen/study/config/study_config.hpp"
#include "culmen/transport/network/work.hpp"

namespace culmen {

/// The fingerprint of everything that decides the candidates and their values: space, evaluator_identity, kind of
/// result, optimizer, its options, seed, edition and mode. Stop rules are not part of it. A study whose mode is not
/// settled counts as generational. It is 16 hexadecimal digits of FNV-1a over a text with one line for each parameter.
/// Stores outlive builds. A setting that a later version adds is therefore written only if it differs from its default:
/// older studies then keep their fingerprints.
std::string fingerprint_of(const StudyConfig& config);

/// A digest of the space, the goals and the evaluator. Master and workers of a study have the same digest, wherever its
/// files are. `content`: the contents of the evaluator's files.
Work work_of(const StudyConfig& config, const std::string& content);

}  // namespace culmen
