// The candidate that an optimizer of noisy values recommends.
// Installed: <culmen/culmen.hpp> includes it.
#pragma once
#include <cstdint>
#include <vector>

namespace culmen {

/// The best candidate according to several evaluations. With noise, the lowest single value is mostly luck. If the
/// candidate comes from a model, `value` and `error` are the model's mean and deviation, and `evaluations` counts all
/// evaluations of the fit.
struct Recommendation {
  std::vector<double> x;          ///< as in a Candidate
  double value = 0;               ///< mean of its values, to be minimized
  double error = 0;               ///< standard error of that mean
  std::uint64_t evaluations = 0;  ///< at least 2 evaluations, none that failed or violates a constraint
  bool operator==(const Recommendation&) const = default;
};

}  // namespace culmen
