// Threads of numerical libraries inside an evaluation.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "culmen/base/process.hpp"
#include "culmen/worker/core/evaluator_spec.hpp"

namespace culmen {

/// The environment variables that set the number of threads of OpenMP, OpenBLAS, MKL, BLIS, NumExpr and Accelerate.
const std::vector<std::string>& thread_variables();

/// Gives each of `workers` on this machine its share of the CPUs, at least one: without it, each evaluation would use
/// all of them. Empty for one worker, for an evaluator that loads modules, and if the user has set one of the
/// variables, in the environment or in the study.
EnvironmentChanges thread_share(std::size_t workers, const EvaluatorSpec& evaluator);

}  // namespace culmen
