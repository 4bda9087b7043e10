#include "culmen/optimizer/cmaes/bipop.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
namespace {
constexpr unsigned most_doublings = 9;
}

Run Bipop::next(std::uint64_t evaluations, Random& random) {
  if (last_was_large_) last_large_ = evaluations;
  (last_was_large_ ? used_large_ : used_small_) += evaluations;
  last_was_large_ = used_small_ >= used_large_;
  if (last_was_large_) {
    doublings_ = doublings_ == most_doublings ? 1 : doublings_ + 1;
    return {large_population(), 1, 0};
  }
  const double sigma_factor = std::pow(10, -2 * random.uniform());
  const double u = random.uniform();
  const double ratio = static_cast<double>(large_population()) / static_cast<double>(population_);
  const auto population = static_cast<std::size_t>(static_cast<double>(population_) * std::pow(ratio / 2, u * u));
  return {population, sigma_factor, std::max<std::uint64_t>(1, last_large_ / 2)};
}

}  // namespace culmen::cmaes
