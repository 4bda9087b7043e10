#include "culmen/optimizer/methods/cmaes/bipop.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
namespace {
constexpr unsigned most_doublings = 9;
}

void Bipop::ended(bool large, std::uint64_t evaluations) {
  if (large) last_large_ = evaluations;
  (large ? used_large_ : used_small_) += evaluations;
}

Run Bipop::next(const Running& running, Random& random) {
  if (used_small_ + running.small >= used_large_ + running.large) {
    doublings_ = doublings_ == most_doublings ? 1 : doublings_ + 1;
    return {large_population(), 1, 0, true};
  }
  const double sigma_factor = std::pow(10, -2 * random.uniform());
  const double u = random.uniform();
  const double ratio = static_cast<double>(large_population()) / static_cast<double>(population_);
  const auto population = static_cast<std::size_t>(static_cast<double>(population_) * std::pow(ratio / 2, u * u));
  const std::uint64_t limit = last_large_ == 0 ? 0 : std::max<std::uint64_t>(1, last_large_ / 2);
  return {population, sigma_factor, limit, false};
}

}  // namespace culmen::cmaes
