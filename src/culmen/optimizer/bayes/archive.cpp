#include "culmen/optimizer/bayes/archive.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace culmen::bayes {
namespace {
constexpr double step_to_worse = 0.5;  // from the worst that is feasible

std::vector<std::size_t> indices(std::size_t n) {
  std::vector<std::size_t> out(n);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

/// In place. Divided first, so that differences of the largest numbers are finite.
void warp(std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  if (largest == 0) return;
  for (double& v : values) v /= largest;
  auto sorted = values;
  std::ranges::sort(sorted);
  const double middle = sorted[sorted.size() / 2];
  double scale = middle - sorted.front();
  if (scale <= 0) scale = sorted.back() - middle;
  for (double& v : values) {
    v = scale > 0 ? (v - middle) / scale : 0;
    if (v > 0) v = std::log1p(v);
  }
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

Eigen::VectorXd model_values(const std::vector<Point>& points) {
  std::vector<double> feasible;
  for (const auto& p : points)
    if (p.ok && p.violation == 0) feasible.push_back(p.value);
  warp(feasible);
  const double worst = feasible.empty() ? 0 : *std::ranges::max_element(feasible);
  std::vector<double> violations;
  for (const auto& p : points)
    if (p.ok && p.violation > 0) violations.push_back(p.violation);
  std::ranges::sort(violations);
  Eigen::VectorXd out(static_cast<Eigen::Index>(points.size()));
  std::size_t next = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto& p = points[k];
    double& v = out[static_cast<Eigen::Index>(k)];
    if (!p.ok) v = worst + 3 * step_to_worse;
    else if (p.violation == 0) v = feasible[next++];
    else {
      const auto rank = std::ranges::lower_bound(violations, p.violation) - violations.begin();
      v = worst + step_to_worse * (1 + static_cast<double>(rank) / static_cast<double>(violations.size()));
    }
  }
  return out;
}

}  // namespace culmen::bayes
