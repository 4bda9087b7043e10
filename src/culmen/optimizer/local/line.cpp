#include "culmen/optimizer/local/line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace culmen::local {
namespace {
constexpr double growth = 4;                     // of steps that still gain
constexpr double shortest = 0.1, longest = 0.5;  // share of a step that was too long
constexpr double least_share = 0.02;             // of a bracket: how near its ends a step is of use

/// Where the parabola through (0, 0) with that slope and (step, rise) is least; infinite where it has no minimum.
double vertex(double slope, double step, double rise) {
  const double curvature = 2 * (rise - slope * step) / (step * step);
  return curvature > 0 ? -slope / curvature : std::numeric_limits<double>::infinity();
}
}  // namespace

Line::Line(double value, double slope, double first, const Rules& rules)
    : value_(value), slope_(slope), rules_(rules), known_{{0, value}}, best_value_(value) {
  first = std::min(first, rules.furthest);
  double step = first;
  for (int k = 0; k < rules.fan; ++k) {
    const double s = k % 2 == 1 ? first * std::pow(growth, (k + 1) / 2) : first / std::pow(growth, k / 2);
    if (s <= rules.furthest) steps_.push_back(s);
  }
  if (!(step > 0) || !(slope < 0)) steps_.clear();
}

void Line::digest(const std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Point p{steps_[k], std::isnan(values[k]) ? std::numeric_limits<double>::infinity() : values[k]};
    known_.insert(std::ranges::upper_bound(known_, p.step, {}, &Point::step), p);
    if (p.value < best_value_) best_step_ = p.step, best_value_ = p.value;
  }
  steps_ = ++turns_ < rules_.most_turns ? next() : std::vector<double>{};
}

std::vector<double> Line::back(const Point& nearest) const {
  const double s = std::isfinite(nearest.value) ? vertex(slope_, nearest.step, nearest.value - value_) : 0;
  const double t = std::clamp(s, shortest * nearest.step, longest * nearest.step);
  if (rules_.fan == 1) return {t};
  return {t, t / growth, t / growth / growth};
}

std::vector<double> Line::next() const {
  const auto best = std::ranges::find(known_, best_step_, &Point::step);
  if (best == known_.begin()) return back(known_[1]);
  const auto& low = *(best - 1);
  if (best + 1 == known_.end()) {
    if (best->step >= rules_.furthest) return {};
    const double s = low.step == 0 ? vertex(slope_, best->step, best->value - value_) : growth * best->step;
    const double promised = low.step == 0 ? -0.5 * slope_ * s : value_ - best->value;
    if (s <= best->step * (1 + least_share)) {
      // The least value lies before this step.
      if (s >= best->step * (1 - least_share) ||
          value_ - promised > best->value - rules_.worth * (value_ - best->value))
        return {};
      return {s};
    }
    if (std::isfinite(s) && promised - (value_ - best->value) < rules_.worth * (value_ - best->value)) return {};
    return {std::min({s, growth * best->step, rules_.furthest})};
  }
  const auto& high = *(best + 1);
  if (!std::isfinite(high.value)) return {};
  const double a = best->step - low.step, b = high.step - best->step;
  const double down = (best->value - low.value) / a, up = (high.value - best->value) / b;
  const double curvature = 2 * (up - down) / (a + b);
  if (!(curvature > 0)) return {};
  const double middle = (down * b + up * a) / (a + b);
  const double shift = -middle / curvature, gain = 0.5 * middle * middle / curvature;
  if (gain < rules_.worth * (value_ - best->value)) return {};
  const double s = std::clamp(best->step + shift, low.step + least_share * a, high.step - least_share * b);
  if (std::abs(s - best->step) < least_share * std::min(a, b)) return {};
  return {s};
}

}  // namespace culmen::local
