#include "culmen/optimizer/methods/local/axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace culmen::local {
namespace {
constexpr std::size_t most_points = 400;
constexpr double least_gain = 1e-8;   // of the values' spread: an interval must promise this much
constexpr double golden = 0.381966;   // share of the longer side of a bracket
constexpr double narrowest = 1e-12;   // narrower intervals are not halved
constexpr double least_share = 1e-3;  // of an interval: nearer to its ends, a parabola's minimum is useless
}  // namespace

std::size_t Axis::lowest() const {
  return static_cast<std::size_t>(std::ranges::min_element(known_, {}, &Point::value) - known_.begin());
}

double Axis::best() const { return known_[lowest()].place; }
double Axis::least() const { return known_[lowest()].value; }

void Axis::add(double place, double value) {
  known_.insert(std::ranges::upper_bound(known_, place, {}, &Point::place), {place, value});
}

void Axis::move_to_best() {
  const double least = this->least();
  for (auto& p : known_) p.value -= least;
}

std::optional<double> Axis::next(double rounding) {
  if (known_.front().place > 0) return 0;
  if (known_.back().place < 1) return 1;
  if (known_.size() >= most_points) return {};
  const auto best = lowest();
  if (const auto place = by_parabola(best, rounding)) return guarded_ ? divided(*place) : *place;
  return by_interval(best);
}

std::optional<double> Axis::by_parabola(std::size_t best, double rounding) const {
  if (best == 0 || best + 1 == known_.size()) return {};
  const auto &low = known_[best - 1], &here = known_[best], &high = known_[best + 1];
  const double a = here.place - low.place, b = high.place - here.place;
  const double down = (here.value - low.value) / a, up = (high.value - here.value) / b;
  const double curvature = 2 * (up - down) / (a + b), slope = (down * b + up * a) / (a + b);
  if (!(curvature > 0) || !std::isfinite(curvature)) return {};
  if (!(0.5 * slope * slope / curvature > rounding)) return {};
  const double place = here.place - slope / curvature;
  const double nearest = least_share * std::min(a, b), side = place < here.place ? -nearest : nearest;
  const double kept = std::abs(place - here.place) < nearest ? here.place + side : place;
  if (!(kept > low.place && kept < high.place) || kept == here.place) return {};
  return kept;
}

/// `place`, of a parabola, if this step is at most half as long as the last but one.
double Axis::divided(double place) {
  const auto best = lowest();
  const double here = known_[best].place, low = known_[best - 1].place, high = known_[best + 1].place;
  const double allowed = 0.5 * std::exchange(last_but_one_, last_);
  last_ = std::abs(place - here);
  if (last_ <= allowed) return place;
  const double longer = high - here > here - low ? high - here : low - here;
  last_ = std::abs(longer);
  return here + golden * longer;
}

std::optional<double> Axis::by_interval(std::size_t best) const {
  double highest = 0;
  for (const auto& p : known_)
    if (std::isfinite(p.value)) highest = std::max(highest, p.value - known_[best].value);
  const double gain = least_gain * highest;
  const auto root = [&](const Point& p) { return std::sqrt(p.value - known_[best].value + gain); };
  double flattest = std::numeric_limits<double>::infinity();
  std::optional<double> place;
  for (std::size_t k = 0; k + 1 < known_.size(); ++k) {
    const auto &a = known_[k], &b = known_[k + 1];
    const double width = b.place - a.place, difficulty = (root(a) + root(b)) / width;
    if (width < narrowest || !(difficulty < flattest)) continue;
    flattest = difficulty;
    place = a.place + width / 2;
  }
  return place;
}

}  // namespace culmen::local
