#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

std::vector<Outcome> Evaluator::evaluate_batch(std::span<const Request> requests) {
  std::vector<Outcome> outcomes;
  for (const auto& request : requests) outcomes.push_back(evaluate(request.candidate, request.attempt));
  return outcomes;
}

void name_the_value(Outcome& outcome, const Goals& goals) {
  if (goals.objectives.size() == 1) outcome.extras.emplace_back(goals.objectives[0].name, outcome.value);
  outcome.value = 0;
}

}  // namespace culmen
