// What an optimizer of noisy values would take.
// Installed: <culmen/culmen.hpp> gives it.
#pragma once
#include <cstdint>
#include <vector>

namespace culmen {

/// The candidate that several evaluations speak for: of noisy values the least single one is only the luckiest. Where a
/// model speaks, its mean and deviation there stand for those of values, and `evaluations` are all that it was fitted
/// to.
struct Recommendation {
  std::vector<double> x;          ///< as in a Candidate
  double value = 0;               ///< mean of its values, to be minimized
  double error = 0;               ///< standard error of that mean
  std::uint64_t evaluations = 0;  ///< whose values these are: at least 2, none that failed or violates a constraint
  bool operator==(const Recommendation&) const = default;
};

}  // namespace culmen
