#include "culmen/optimizer/methods/lm/magnitude.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "culmen/space/scaling.hpp"

namespace culmen::lm {
namespace {
constexpr double bend_share = 0.05;  // of a box around zero: below it, points lie evenly

/// Above 0 even if a box is so narrow that its share is 0.
double bend_of(const Parameter& p) {
  return std::max(bend_share * std::max(-p.lower, p.upper), std::numeric_limits<double>::min());
}

double bent(const Parameter& p, double v) {
  if (p.lower > 0) return std::log(v);
  if (p.upper < 0) return -std::log(-v);
  return std::asinh(v / bend_of(p));
}

double straight(const Parameter& p, double w) {
  if (p.lower > 0) return std::exp(w);
  if (p.upper < 0) return -std::exp(-w);
  return bend_of(p) * std::sinh(w);
}
}  // namespace

double of_magnitude(const Parameter& p, double u) {
  if (!has_bounds(p)) return from_unit(p, u);
  const double low = bent(p, p.lower), high = bent(p, p.upper);
  return std::clamp(straight(p, low + u * (high - low)), p.lower, p.upper);
}

double magnitude_of(const Parameter& p, double v) {
  if (!has_bounds(p)) return to_unit(p, v);
  const double low = bent(p, p.lower), high = bent(p, p.upper);
  return high > low ? (bent(p, v) - low) / (high - low) : 0;
}

}  // namespace culmen::lm
