#include "culmen/space/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace culmen {
namespace {
constexpr double half = 0.5;  // an integer's cell on a log scale extends half a step to either side

double log_bound(const Parameter& p, double bound, double margin) {
  return std::log(p.kind == ParameterKind::integer ? bound + margin : bound);
}
double log_lower(const Parameter& p) { return log_bound(p, p.lower, -half); }
double log_upper(const Parameter& p) { return log_bound(p, p.upper, half); }

// Without bounds. The size is the distance from the initial value to the only bound, or the initial value's own.
constexpr double outermost = 1e-8;  // the nearest place to an open side

double size_of(const Parameter& p) {
  const double start = *p.initial, bound = std::isinf(p.lower) ? p.upper : p.lower;
  const double distance = std::isinf(bound) ? std::abs(start) : std::abs(start - bound);
  return distance > 0 ? distance : start != 0 ? std::abs(start) : 1;
}

double open_place(const Parameter& p, double v) {
  const double size = size_of(p);
  if (std::isfinite(p.lower)) return (v - p.lower) / ((v - p.lower) + size);
  if (std::isfinite(p.upper)) return size / ((p.upper - v) + size);
  return 0.5 + std::atan((v - *p.initial) / size) / std::numbers::pi;
}

double from_open(const Parameter& p, double u) {
  const double size = size_of(p), below = std::max(u, std::isinf(p.lower) ? outermost : 0),
               above = std::max(1 - u, std::isinf(p.upper) ? outermost : 0);
  if (std::isfinite(p.lower)) return p.lower + size * below / above;
  if (std::isfinite(p.upper)) return p.upper - size * above / below;
  return *p.initial + (u == 0.5 ? 0 : -size / std::tan(std::numbers::pi * (u < 0.5 ? below : 1 - above)));
}

/// For discrete parameters the middle of a value's cell on a linear scale; outside [0, 1] for values out of bounds.
double place(const Parameter& p, double v) {
  if (!has_bounds(p)) return open_place(p, v);
  if (p.scale == Scale::log) return (std::log(v) - log_lower(p)) / (log_upper(p) - log_lower(p));
  if (p.discrete()) return (v - p.lower + half) / p.cells();
  return (v - p.lower) / (p.upper - p.lower);
}

double cell(const Parameter& p, double u) {
  if (p.scale == Scale::linear) return std::min(p.lower + std::floor(u * p.cells()), p.upper);
  const double v = std::exp(log_lower(p) + u * (log_upper(p) - log_lower(p)));
  return std::clamp(std::round(v), p.lower, p.upper);
}
}  // namespace

double from_unit(const Parameter& p, double u) {
  u = std::clamp(std::isnan(u) ? half : u, 0.0, 1.0);
  if (p.discrete()) return cell(p, u);
  if (!has_bounds(p)) return std::clamp(from_open(p, u), p.lower, p.upper);
  if (u == 0) return p.lower;
  if (u == 1) return p.upper;
  const double v = p.scale == Scale::log ? std::exp(log_lower(p) + u * (log_upper(p) - log_lower(p)))
                                         : p.lower + u * (p.upper - p.lower);
  return std::clamp(v, p.lower, p.upper);
}

bool has_bounds(const Parameter& p) { return std::isfinite(p.lower) && std::isfinite(p.upper); }

double width_of(const Parameter& p) {
  return has_bounds(p) ? p.upper - p.lower : from_unit(p, 0.75) - from_unit(p, 0.25);
}

Cell cell_of(const Parameter& p, double u) {
  const double v = from_unit(p, u);
  return {place(p, v - half), place(p, v + half)};
}

double to_unit(const Parameter& p, double v) { return std::clamp(place(p, v), 0.0, 1.0); }

}  // namespace culmen
