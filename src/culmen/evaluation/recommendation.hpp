// The candidate that an optimizer of noisy values recommends.
// Installed: <culmen/culmen.hpp> includes it.
#pragma once
#include <cstdint>
#include <vector>

namespace culmen {

/// The candidate that is best by several evaluations: with noise, the least single value is only the luckiest. If it
/// comes from a model, its mean and deviation replace those of values, and `evaluations` are all that the model was
/// fitted to.
struct Recommendation {
  std::vector<double> x;          ///< as in a Candidate
  double value = 0;               ///< mean of its values, to be minimized
  double error = 0;               ///< standard error of that mean
  std::uint64_t evaluations = 0;  ///< at least 2 evaluations, none that failed or violates a constraint
  bool operator==(const Recommendation&) const = default;
};

}  // namespace culmen
