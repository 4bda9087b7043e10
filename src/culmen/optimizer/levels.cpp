#include "culmen/optimizer/levels.hpp"

#include <algorithm>

namespace culmen {

std::vector<std::vector<double>> levels_of(const Space& space, std::size_t points) {
  std::vector<std::vector<double>> levels(space.size());
  std::vector<double> x(space.size());
  for (std::size_t k = 0; k < points; ++k) {
    const double u = points == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(points - 1);
    std::ranges::fill(x, u);
    space.from_unit(x, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (levels[i].empty() || levels[i].back() < x[i]) levels[i].push_back(x[i]);
    }
  }
  return levels;
}

}  // namespace culmen
