#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

std::vector<Outcome> Evaluator::evaluate_batch(std::span<const Request> requests) {
  std::vector<Outcome> outcomes;
  for (const auto& request : requests) outcomes.push_back(evaluate(request.candidate, request.attempt));
  return outcomes;
}

void name_the_value(Outcome& outcome, const Goals& goals) {
  const bool own = goals.objectives.size() == 1 && !goals.is_derived(goals.objectives[0].name);
  const bool used = own || !goals.derived.empty() || !goals.conditions.empty();
  if (used) outcome.extras.emplace_back(own ? goals.objectives[0].name : "value", outcome.value);
  outcome.value = 0;
}

}  // namespace culmen
