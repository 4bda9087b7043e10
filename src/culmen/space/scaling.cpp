#include "culmen/space/scaling.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {
namespace {
constexpr double half = 0.5;  // an integer's cell on a log scale extends half a step to either side

double log_bound(const Parameter& p, double bound, double margin) {
  return std::log(p.kind == ParameterKind::integer ? bound + margin : bound);
}
double log_lower(const Parameter& p) { return log_bound(p, p.lower, -half); }
double log_upper(const Parameter& p) { return log_bound(p, p.upper, half); }

/// For discrete parameters the middle of a value's cell on a linear scale; outside [0, 1] for values out of bounds.
double place(const Parameter& p, double v) {
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
  if (u == 0) return p.lower;
  if (u == 1) return p.upper;
  const double v = p.scale == Scale::log ? std::exp(log_lower(p) + u * (log_upper(p) - log_lower(p)))
                                         : p.lower + u * (p.upper - p.lower);
  return std::clamp(v, p.lower, p.upper);
}

Cell cell_of(const Parameter& p, double u) {
  const double v = from_unit(p, u);
  return {place(p, v - half), place(p, v + half)};
}

double to_unit(const Parameter& p, double v) { return std::clamp(place(p, v), 0.0, 1.0); }

}  // namespace culmen
