// The smooth way from the optimizer's unbounded coordinates into the unit interval.
#pragma once
#include <algorithm>
#include <cmath>

namespace culmen::cmaes {

/// Width of the two zones in which the map bends.
inline constexpr double margin = 0.05;

/// The identity on [margin, 1 - margin], a parabola in either zone of twice that width around the bounds, so that an
/// optimum at a bound becomes the smooth minimum of a parabola; mirrored and periodic beyond. (The idea of pycma's
/// BoxConstraintsLinQuadTransformation.) Continuous with its derivative; the result lies in [0, 1].
inline double bend_into_unit(double y) {
  constexpr double period = 2 * (1 + 2 * margin);
  y -= period * std::floor((y + margin) / period);  // now in [-margin, 2 + 3 margin)
  if (y > 1 + margin) y = 2 * (1 + margin) - y;
  if (y < margin) return (y + margin) * (y + margin) / (4 * margin);
  if (y > 1 - margin) return 1 - (1 + margin - y) * (1 + margin - y) / (4 * margin);
  return y;
}

/// The coordinate in [-margin, 1 + margin] that bends into u.
inline double unbend(double u) {
  if (u < margin) return 2 * std::sqrt(margin * u) - margin;
  if (u > 1 - margin) return 1 + margin - 2 * std::sqrt(margin * (1 - u));
  return u;
}

/// Mirrored at the bounds, without a bend: for integers, whose cells shall keep their width.
inline double mirror_into_unit(double y) {
  y = std::abs(y - 2 * std::round(y / 2));
  return std::min(y, 1.0);
}

}  // namespace culmen::cmaes
