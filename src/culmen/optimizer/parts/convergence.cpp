#include "culmen/optimizer/parts/convergence.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {
namespace {
constexpr double least_drop = 1e-15;    // of values, as a share of the first drop
constexpr double least_extent = 1e-12;  // of unit coordinates

bool lie_together(const Parameter& p, double least, double most) {
  if (most - least <= least_extent) return true;
  return p.discrete() && p.scale == Scale::linear && std::floor(least * p.cells()) == std::floor(most * p.cells());
}

bool lie_together(const Space& space, std::span<const std::vector<double>* const> points) {
  for (std::size_t i = 0; i < space.size(); ++i) {
    double least = 1, most = 0;
    for (const auto* x : points) {
      least = std::min(least, (*x)[i]);
      most = std::max(most, (*x)[i]);
    }
    if (!lie_together(space[i], least, most)) return false;
  }
  return true;
}
}  // namespace

bool Convergence::told(const Standing& standing) {
  ++idle_;
  if (!standing.better_than(best_)) return false;
  best_ = standing;
  idle_ = 0;
  return true;
}

bool Convergence::over(const Space& space, std::span<const Standing> standings,
                       std::span<const std::vector<double>* const> points) {
  if (idle_ > idle_generations_ * standings.size()) return true;
  if (standings.empty() || !standings.back().ok()) return false;
  const double best = standings.front().value;
  if (!drop_) drop_ = standings[standings.size() / 2].value - best;
  return standings.back().value - best <= least_drop * *drop_ || lie_together(space, points);
}

}  // namespace culmen
