#include "culmen/optimizer/parts/lattice.hpp"

#include <utility>

namespace culmen {

std::uint64_t combinations(const std::vector<std::vector<double>>& levels) {
  std::uint64_t n = 1;
  for (const auto& values : levels)
    n = values.size() > Lattice::most_points / n ? Lattice::most_points : n * values.size();
  return n;
}

Lattice::Lattice(const Space& space, std::vector<std::vector<double>> levels)
    : space_(space), levels_(std::move(levels)), size_(combinations(levels_)) {}

std::optional<std::vector<double>> Lattice::at(std::uint64_t index) const {
  std::vector<double> x(levels_.size());
  for (std::size_t i = levels_.size(); i-- > 0; index /= levels_[i].size())
    x[i] = levels_[i][index % levels_[i].size()];
  if (!space_.conditional()) return x;
  const auto active = space_.activity(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!active[i] && x[i] != levels_[i].front()) return std::nullopt;
  }
  space_.rest_inactive(x);
  return x;
}

}  // namespace culmen
