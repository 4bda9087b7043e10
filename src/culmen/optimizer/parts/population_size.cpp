#include "culmen/optimizer/parts/population_size.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {

std::size_t population_for_several(const Terms& terms) {
  if (terms.evaluations == 0) return 100;
  return static_cast<std::size_t>(
      std::clamp(std::round(0.6 * std::sqrt(static_cast<double>(terms.evaluations))), 10.0, 100.0));
}

}  // namespace culmen
