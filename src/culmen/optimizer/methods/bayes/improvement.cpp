#include "culmen/optimizer/methods/bayes/improvement.hpp"

#include <cmath>
#include <numbers>

namespace culmen::bayes {
namespace {
constexpr double far = -10;  // below this, 1 + z·Φ/φ would lose its digits
const double log_root_2pi = 0.5 * std::log(2 * std::numbers::pi);

double cumulative(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
}  // namespace

Improvement log_improvement(double best, double mean, double deviation) {
  const double z = (best - mean) / deviation, log_density = -0.5 * z * z - log_root_2pi;
  if (z > -1) {
    const double density = std::exp(log_density), below = cumulative(z), h = density + z * below;
    return {std::log(deviation) + std::log(h), -below / (deviation * h), density / (deviation * h)};
  }
  double ratio = 0, rest = 0;  // Φ/φ and 1 + z·Φ/φ
  if (z > far) {
    ratio = cumulative(z) / std::exp(log_density);
    rest = 1 + z * ratio;
  } else {
    const double s = 1 / (z * z);
    rest = s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s)));
    ratio = (rest - 1) / z;
  }
  return {std::log(deviation) + log_density + std::log(rest), -ratio / (deviation * rest), 1 / (deviation * rest)};
}

}  // namespace culmen::bayes
