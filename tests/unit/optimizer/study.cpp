#include "unit/optimizer/study.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {

std::size_t evaluations_to_target(const Problem& problem, std::uint64_t seed) {
  const auto optimizer = make_optimizer(problem.optimizer, problem.space, seed, problem.options);
  std::vector<Candidate> batch;
  std::size_t told = 0;
  while (told < problem.budget) {
    batch.clear();
    optimizer->ask(problem.budget - told, batch);
    for (const auto& c : batch) {
      ++told;
      const double value = problem.objective(c.x);
      if (value <= problem.target) return told;
      optimizer->tell(c.id, std::isnan(value) ? Outcome::failure(Status::failed, "") : Outcome::of_value(value));
    }
  }
  return problem.budget;
}

std::size_t median_evaluations(const Problem& problem, std::uint64_t seeds) {
  std::vector<std::size_t> all;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) all.push_back(evaluations_to_target(problem, seed));
  std::ranges::sort(all);
  return all[all.size() / 2];
}

Space cube(std::size_t n, double lower, double upper) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < n; ++i) parameters.push_back(real("x" + std::to_string(i), lower, upper));
  return Space(std::move(parameters));
}

}  // namespace culmen
