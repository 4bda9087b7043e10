#include "culmen/worker/make_evaluator.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/worker/command/command_evaluator.hpp"
#include "culmen/worker/core/library_evaluator.hpp"
#include "culmen/worker/slot/slot_evaluator.hpp"

namespace culmen {
namespace {
void check_possible(const EvaluatorSpec& spec) {
  if (spec.kind() == EvaluatorKind::function)
    throw InputError("a function of the program itself cannot be made from a set-up; hand it to the worker");
  if (!(spec.time_limit_s >= 0))
    throw InputError(fmt::format("the time limit is {} s; give seconds, or 0 for none", spec.time_limit_s));
  if (spec.isolation == Isolation::process || spec.kind() == EvaluatorKind::command) return;
  if (spec.kind() == EvaluatorKind::python)
    throw InputError(
        "isolation = \"none\" is not possible for a Python function in a worker; use isolation = \"process\"");
  if (spec.time_limit_s > 0)
    throw InputError(
        fmt::format("a time limit of {} s cannot be kept with isolation = \"none\"; use isolation = \"process\"",
                    spec.time_limit_s));
}
}  // namespace

std::unique_ptr<Evaluator> make_evaluator(const SetUp& set_up) {
  check_possible(set_up.evaluator);
  if (set_up.evaluator.kind() == EvaluatorKind::command) return make_command_evaluator(set_up);
  if (set_up.evaluator.isolation == Isolation::none) return make_library_evaluator(set_up);
  return make_slot_evaluator(set_up);
}

}  // namespace culmen
