#include "culmen/optimizer/parts/mutation.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {

double mirrored(double v, double lower, double upper) {
  if (v >= lower && v <= upper) return v;
  const double width = upper - lower;
  double y = std::fmod(std::abs(v - lower), 2 * width);
  if (y > width) y = 2 * width - y;
  return lower + y;
}

double geometric(double p, Random& random) {
  return p >= 1 ? 0 : std::floor(std::log1p(-random.uniform()) / std::log1p(-p));
}

double other_choice(const Parameter& p, double choice, Random& random) {
  const auto other = static_cast<double>(random.below(static_cast<std::uint64_t>(p.cells()) - 1));
  return other + p.lower < choice ? other + p.lower : other + p.lower + 1;
}

double step_at(const Parameter& p, double step, double place) {
  if (p.scale != Scale::log) return step;
  return std::max(1.0, step / p.cells() * place * std::log((p.upper + 0.5) / (p.lower - 0.5)));
}

}  // namespace culmen
