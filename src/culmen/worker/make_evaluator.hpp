// Chooses the evaluator that a set-up names.
#pragma once
#include <memory>

#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// Builds the evaluator of the set-up (not EvaluatorKind::function). Throws Error with one sentence, for example if
/// there is no such program, if a limit cannot be kept, or if two parameters need the same variable. Errors that only a
/// child can find, such as a failing import, come from prepare().
std::unique_ptr<Evaluator> make_evaluator(const SetUp& set_up);

}  // namespace culmen
