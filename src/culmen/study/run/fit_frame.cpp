#include "culmen/study/run/fit_frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace culmen {
namespace {
constexpr double on_wall = 1e-9;  // of the range, and of the bound

using Eigen::VectorXd;

/// Bounds may be very wide: the size of a bound counts too. As in culmen.errors in Python.
bool at_wall(const Parameter& p, double value) {
  const double near = on_wall * (p.upper - p.lower);
  const double at_zero = std::isfinite(near) ? near : 0;
  const auto is_at = [&](double wall) {
    const double own = on_wall * std::abs(wall);
    return std::isfinite(wall) && std::abs(value - wall) <= std::min(near, own > 0 ? own : at_zero);
  };
  return is_at(p.lower) || is_at(p.upper);
}

double width_at(double start, double lower, double upper) {
  if (std::isfinite(upper - lower)) return upper - lower;
  const double size = std::min(std::abs(start), std::numeric_limits<double>::max() / 2);
  return 2 * (size > 0 ? size : 1);
}
}  // namespace

std::vector<double> FitFrame::vector(const VectorXd& u) const {
  auto out = x;
  for (std::size_t k = 0; k < free.size(); ++k) {
    const auto i = free[k];
    const double value = u[static_cast<Eigen::Index>(k)];
    out[i] = std::clamp(is_log(i) ? std::exp(value) : value, space[i].lower, space[i].upper);
  }
  return out;
}

FitFrame FitFrame::part(const std::vector<Eigen::Index>& kept) const {
  FitFrame out{space, x};
  for (const auto k : kept) out.free.push_back(free[static_cast<std::size_t>(k)]);
  out.start = start(kept), out.lower = lower(kept), out.upper = upper(kept), out.width = width(kept);
  return out;
}

FitFrame fit_frame_of(const Space& space, const std::vector<double>& x) {
  FitFrame frame{space, x};
  auto masked = x;
  space.put_inactive(masked, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].kind == ParameterKind::real && !std::isnan(masked[i]) && !at_wall(space[i], x[i]))
      frame.free.push_back(i);
  }
  const auto n = static_cast<Eigen::Index>(frame.free.size());
  frame.start = frame.lower = frame.upper = frame.width = VectorXd(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto i = frame.free[static_cast<std::size_t>(k)];
    const auto to_u = [&](double value) { return frame.is_log(i) ? std::log(value) : value; };
    frame.start[k] = to_u(x[i]), frame.lower[k] = to_u(space[i].lower), frame.upper[k] = to_u(space[i].upper);
    frame.width[k] = width_at(frame.start[k], frame.lower[k], frame.upper[k]);
  }
  return frame;
}

}  // namespace culmen
