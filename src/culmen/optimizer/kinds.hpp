// What the registry knows of each optimizer. Internal to this folder.
#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "culmen/optimizer/optimizer.hpp"

namespace culmen {

/// A number that a user may give. Bounds are inclusive.
struct OptionRule {
  std::string name;
  double lowest = 0;
  double highest = std::numeric_limits<double>::max();
  bool whole = false;
};

struct OptimizerKind {
  std::string name;
  std::vector<OptionRule> options;  ///< in alphabetical order
  /// Gets options that have passed the rules.
  std::function<std::unique_ptr<Optimizer>(const Space&, std::uint64_t seed, const OptimizerOptions&)> make;
};

OptimizerKind cmaes_kind();
OptimizerKind lm_kind();
OptimizerKind random_kind();
OptimizerKind sobol_kind();

}  // namespace culmen
