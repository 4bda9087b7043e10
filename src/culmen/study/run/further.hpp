// Further evaluations of a study, beside those of its search: for errors, and for candidates that a program chooses.
#pragma once
#include "culmen/study/config/study_config.hpp"
#include "culmen/study/run/run_options.hpp"

namespace culmen {

/// Evaluates as the study does, but no rule ends it, and its evaluations have a working folder of their own.
StudyConfig further_config(StudyConfig config);
/// The same workers; nothing is stored.
RunOptions further_options(RunOptions options);
/// At the end of a study, workers of other machines leave: those of this machine remain. Throws InputError if there are
/// none.
RunOptions without_visitors(RunOptions options);

}  // namespace culmen
