// Minimizes a function with an optimizer, without an engine.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

using TestFunction = std::function<double(const std::vector<double>&)>;  ///< NaN: the evaluation fails

struct Problem {
  std::string optimizer = "cmaes";
  Space space;
  TestFunction objective;
  double target;
  std::size_t budget = 100000;
  OptimizerOptions options = {};
};

/// Evaluations until the target was reached; the budget when it was not.
std::size_t evaluations_to_target(const Problem& problem, std::uint64_t seed);
/// Median over the seeds 1 to `seeds`.
std::size_t median_evaluations(const Problem& problem, std::uint64_t seeds);

Space cube(std::size_t n, double lower, double upper);

}  // namespace culmen
