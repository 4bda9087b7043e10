// Further evaluations of a study, in addition to those of its search: for errors, and for candidates that a program
// chooses.
#pragma once
#include "culmen/study/config/study_config.hpp"
#include "culmen/study/run/run_options.hpp"

namespace culmen {

/// Evaluates as the study does, but no rule ends it, and its evaluations have a working folder of their own.
StudyConfig further_config(StudyConfig config);
/// The same workers; nothing is stored.
RunOptions further_options(RunOptions options);
/// Before a run: the workers of other machines that join it stay after its end, for runs with a copy of the options,
/// until dismiss_visitors().
void keep_visitors(RunOptions& options);
/// Tells the workers that stayed to leave.
void dismiss_visitors(const RunOptions& options);
/// At the end of a study: the workers that remain for further evaluations. They are the workers of this machine, and
/// the workers of other machines that stayed. Throws InputError if there are none.
RunOptions remaining_workers(RunOptions options);

}  // namespace culmen
