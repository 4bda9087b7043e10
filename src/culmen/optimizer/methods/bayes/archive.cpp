#include "culmen/optimizer/methods/bayes/archive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace culmen::bayes {
namespace {
constexpr double step_to_worse = 0.5;  // added to the value of the worst feasible point

std::vector<std::size_t> indices(std::size_t n) {
  std::vector<std::size_t> out(n);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}
}  // namespace

Point Point::of(Eigen::VectorXd unit, const Outcome& outcome) {
  const bool ok = outcome.ok() && std::isfinite(outcome.value);
  return {std::move(unit), ok, outcome.violation > 0 ? outcome.violation : 0, ok ? outcome.value : 0};
}

bool Point::better_than(const Point& other) const {
  if (ok != other.ok) return ok;
  if (violation != other.violation) return violation < other.violation;
  return value < other.value;
}

void Archive::add(Point point) {
  points_.push_back(std::move(point));
  if (points_.back().better_than(points_[best_])) best_ = points_.size() - 1;
  if (points_.size() > most_ + most_ / 8) thin();
}

void Archive::clear() {
  points_.clear();
  best_ = 0;
}

void Archive::thin() {
  const std::size_t n = points_.size(), third = most_ / 3;
  std::vector<char> keep(n, 0);
  auto order = indices(n);
  std::ranges::stable_sort(order, [&](auto a, auto b) { return points_[a].better_than(points_[b]); });
  for (std::size_t k = 0; k < third; ++k) keep[order[k]] = keep[n - 1 - k] = 1;
  keep[best_] = 1;
  std::vector<double> distance(n);
  for (std::size_t k = 0; k < n; ++k) distance[k] = (points_[k].unit - points_[best_].unit).squaredNorm();
  std::ranges::stable_sort(order, [&](auto a, auto b) { return distance[a] < distance[b]; });
  auto kept = static_cast<std::size_t>(std::ranges::count(keep, 1));
  for (std::size_t k = 0; k < n && kept < most_; ++k) {
    kept += keep[order[k]] == 0 ? 1 : 0;
    keep[order[k]] = 1;
  }
  std::vector<Point> rest;
  std::size_t best = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (keep[k] == 0) continue;
    if (k == best_) best = rest.size();
    rest.push_back(std::move(points_[k]));
  }
  points_ = std::move(rest);
  best_ = best;
}

/// Divides first, so that differences of the largest numbers stay finite.
ModelValues::ModelValues(const std::vector<Point>& points, std::size_t compression)
    : values_(static_cast<Eigen::Index>(points.size())), compressed_(compressions[compression] < 1) {
  std::vector<double> sorted, violations;
  for (const auto& p : points) {
    if (p.ok && p.violation == 0) sorted.push_back(p.value);
    if (p.ok && p.violation > 0) violations.push_back(p.violation);
  }
  std::ranges::sort(sorted);
  std::ranges::sort(violations);
  if (!sorted.empty()) {
    unit_ = std::max({std::abs(sorted.front()), std::abs(sorted.back()), std::numeric_limits<double>::min()});
    const auto last = static_cast<double>(sorted.size() - 1);
    middle_ = sorted[static_cast<std::size_t>(std::ceil(compressions[compression] * last))] / unit_;
    scale_ = middle_ - sorted.front() / unit_;
    if (scale_ <= 0) scale_ = sorted.back() / unit_ - middle_;
  }
  const double worst = sorted.empty() ? 0 : warped(sorted.back());
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto& p = points[k];
    double& v = values_[static_cast<Eigen::Index>(k)];
    if (!p.ok) v = worst + 3 * step_to_worse;
    else if (p.violation == 0) v = warped(p.value);
    else {
      const auto rank = std::ranges::lower_bound(violations, p.violation) - violations.begin();
      v = worst + step_to_worse * (1 + static_cast<double>(rank) / static_cast<double>(violations.size()));
    }
  }
  mean_ = values_.mean();
  if (const double d = std::sqrt((values_.array() - mean_).square().mean()); d > 0) deviation_ = d;
  for (const double value : sorted)
    log_stretch_ += std::log(deviation_ * std::max(scale_, std::numeric_limits<double>::min())) +
                    (compressed_ ? std::max(warped(value), 0.0) : 0);
  values_ = (values_.array() - mean_) / deviation_;
}

double ModelValues::warped(double objective) const {
  const double v = scale_ > 0 ? (objective / unit_ - middle_) / scale_ : 0;
  return compressed_ && v > 0 ? std::log1p(v) : v;
}

double ModelValues::objective(double value) const {
  double v = mean_ + deviation_ * value;
  if (compressed_ && v > 0) v = std::expm1(v);
  return unit_ * (middle_ + scale_ * v);
}

}  // namespace culmen::bayes
