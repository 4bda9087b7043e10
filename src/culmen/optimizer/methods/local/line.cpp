#include "culmen/optimizer/methods/local/line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace culmen::local {
namespace {
constexpr double growth = 4;                     // of steps that still gain
constexpr double shortest = 0.1, longest = 0.5;  // share of a step that was too long
constexpr double far_apart = 5;       // if the steps of a bracket are this far apart, only the nearer one is useful
constexpr double nearest_end = 0.02;  // of a bracket: steps nearer to its ends are useless

/// The minimum of the parabola through (0, 0) with that slope and (step, rise); infinite if it has none.
double vertex(double slope, double step, double rise) {
  const double curvature = 2 * (rise - slope * step) / (step * step);
  return curvature > 0 ? -slope / curvature : std::numeric_limits<double>::infinity();
}

double between(double step, double end) { return std::sqrt(step) * std::sqrt(end); }
}  // namespace

Line::Line(double value, double slope, double first, const Rules& rules)
    : value_(value), slope_(slope), rules_(rules), known_{{0, value}}, best_value_(value) {
  for (int k = 0; k < rules.fan; ++k) {
    steps_.push_back(k % 2 == 1 ? first * std::pow(growth, (k + 1) / 2) : first / std::pow(growth, k / 2));
  }
  if (!(slope < 0)) steps_.clear();
  drop_void_steps();
}

/// Of values and slopes near the largest numbers.
void Line::drop_void_steps() {
  std::erase_if(steps_, [](double step) { return !(step > 0) || !std::isfinite(step); });
}

void Line::digest(const std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Point p{steps_[k], std::isnan(values[k]) ? std::numeric_limits<double>::infinity() : values[k]};
    known_.insert(std::ranges::upper_bound(known_, p.step, {}, &Point::step), p);
    if (p.value < best_value_) best_step_ = p.step, best_value_ = p.value;
  }
  steps_ = ++turns_ < rules_.most_turns ? next() : std::vector<double>{};
  drop_void_steps();
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
  const bool last = best + 1 == known_.end();
  const bool wide = !last && low.step == 0 && (best + 1)->step > far_apart * best->step;
  const auto model = last || wide ? from_slope(*best) : from_bracket(low, *best, *(best + 1));
  const double gained = value_ - best->value, end = last ? rules_.limit : (best + 1)->step;
  if (rules_.guarded && std::isfinite(end)) {
    const bool onwards = model && model->step > best->step && model->step < end;
    if (!onwards && slope_at(*best, low) < 0) return towards(end, *best, slope_at(*best, low));
  }
  if (!model || model->step == best->step || model->gain < rules_.worth * gained) return {};
  if (last) return {std::min({model->step, growth * best->step, between(best->step, end)})};
  const auto& high = *(best + 1);
  const double margin = nearest_end * (high.step - low.step);
  return {std::clamp(model->step, low.step + margin, high.step - margin)};
}

/// Of the polynomial through the points up to the best one that has the slope of the beginning.
double Line::slope_at(const Point& best, const Point& low) const {
  const auto bend = [&](const Point& p) { return ((p.value - value_) / p.step - slope_) / p.step; };
  const double b = best.step, change = low.step > 0 ? (bend(best) - bend(low)) / (b - low.step) : 0;
  return slope_ + 2 * b * bend(best) + b * b * change;
}

/// To the geometric mean. A parabola through the end would often turn back, or go almost as far as the end.
std::vector<double> Line::towards(double end, const Point& best, double slope) const {
  const double step = std::min(between(best.step, end), growth * best.step);
  if (-0.5 * slope * (step - best.step) < rules_.worth * (value_ - best.value)) return {};
  return {step};
}

double Line::too_long() const {
  const auto p = std::ranges::upper_bound(known_, best_step_, {}, &Point::step);
  return p == known_.end() ? std::numeric_limits<double>::infinity() : p->step;
}

/// The parabola through the beginning, with its slope, and a point.
std::optional<Line::Model> Line::from_slope(const Point& p) const {
  const double s = vertex(slope_, p.step, p.value - value_);
  return Model{s, -0.5 * slope_ * s - (value_ - p.value)};
}

/// The parabola through three points; the middle one is the lowest.
std::optional<Line::Model> Line::from_bracket(const Point& low, const Point& best, const Point& high) {
  if (!std::isfinite(high.value)) return {};
  const double a = best.step - low.step, b = high.step - best.step;
  const double down = (best.value - low.value) / a, up = (high.value - best.value) / b;
  const double curvature = 2 * (up - down) / (a + b), middle = (down * b + up * a) / (a + b);
  if (!(curvature > 0)) return {};
  return Model{best.step - middle / curvature, 0.5 * middle * middle / curvature};
}

}  // namespace culmen::local
