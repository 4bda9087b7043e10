// How the child process of a slot is started.
#pragma once
#include <string>

#include "culmen/base/process.hpp"
#include "culmen/worker/core/evaluator_spec.hpp"

namespace culmen {

/// The program of the slot, and the variables that every slot has. Throws InputError if a Python evaluator has no
/// interpreter.
SpawnRequest slot_request(const EvaluatorSpec& spec);
/// For messages: the steps of a slot before its first evaluation.
std::string describe_start(const EvaluatorSpec& spec);

}  // namespace culmen
