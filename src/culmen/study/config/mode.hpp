// The mode of a study, which is settled when it begins.
#pragma once
#include <cstddef>
#include <string>

#include "culmen/study/config/study_config.hpp"

namespace culmen {

/// Sets `generational`, and the fingerprint with it, if it is not given. A store with the fingerprint `begun` continues
/// in its mode, unless that is empty or of another study. Otherwise the study is asynchronous if culmen has chosen an
/// optimizer that is as good without generations, and if there are at least four workers. For real parameters there
/// must also be more than 2 (n + 1) workers, a budget of at least 100 n evaluations for each of them, or no budget.
void settle_mode(StudyConfig& config, std::size_t workers, const std::string& begun = {});

}  // namespace culmen
