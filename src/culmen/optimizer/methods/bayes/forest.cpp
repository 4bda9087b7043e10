#include "culmen/optimizer/methods/bayes/forest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace culmen::bayes {
namespace {
using Eigen::Index;

constexpr std::size_t trees = 40, fewest_to_split = 3;
constexpr double share_tried = 5.0 / 6;  // of the parameters at a split, as in SMAC
constexpr double least_leaf_variance = 1e-6;
}  // namespace

Forest::Forest(const Eigen::MatrixXd& points, const Eigen::VectorXd& values, std::vector<char> ordered,
               std::uint64_t seed)
    : points_(points), values_(values), ordered_(std::move(ordered)), random_(seed) {
  Rows rows(static_cast<std::size_t>(points.rows()));
  for (std::size_t k = 0; k < trees; ++k) {
    std::iota(rows.begin(), rows.end(), Index{0});
    roots_.push_back(grow(rows, 0, rows.size()));
  }
}

std::size_t Forest::grow(Rows& rows, std::size_t from, std::size_t to) {
  const auto at = nodes_.size();
  double sum = 0, squares = 0;
  for (auto k = from; k < to; ++k) sum += values_[rows[k]];
  const double mean = sum / static_cast<double>(to - from);
  for (auto k = from; k < to; ++k) squares += std::pow(values_[rows[k]] - mean, 2);
  nodes_.push_back({.mean = mean, .variance = squares / static_cast<double>(to - from)});
  if (to - from < fewest_to_split || squares == 0) return at;
  auto split = best_split(rows, from, to);
  if (split.gain < 0) return at;
  const auto first = rows.begin() + static_cast<std::ptrdiff_t>(from);
  const auto last = rows.begin() + static_cast<std::ptrdiff_t>(to);
  const auto middle = std::stable_partition(
      first, last, [&](Index row) { return goes_left(split.node, points_(row, split.node.parameter)); });
  const auto cut = static_cast<std::size_t>(middle - rows.begin());
  const auto below = grow(rows, from, cut), above = grow(rows, cut, to);
  auto& node = nodes_[at];
  split.node.below = below, split.node.above = above;
  node = std::move(split.node);
  return at;
}

Forest::Split Forest::best_split(const Rows& rows, std::size_t from, std::size_t to) {
  const auto n = static_cast<std::size_t>(points_.cols());
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  auto tries = std::max<std::size_t>(1, static_cast<std::size_t>(share_tried * static_cast<double>(n)));
  Split best;
  for (std::size_t k = 0; k < n && tries > 0; ++k) {
    std::swap(order[k], order[k + random_.below(n - k)]);
    auto split = drawn(order[k], rows, from, to);
    if (split.gain < 0) continue;
    --tries;
    if (split.gain > best.gain) best = std::move(split);
  }
  return best;
}

/// A random split with points on both sides. Its gain is the sum of squares that it explains; -1 if all values there
/// are equal.
Forest::Split Forest::drawn(Index parameter, const Rows& rows, std::size_t from, std::size_t to) {
  Split out;
  out.node.parameter = static_cast<int>(parameter);
  const auto value = [&](std::size_t k) { return points_(rows[k], parameter); };
  if (ordered_[static_cast<std::size_t>(parameter)] != 0) {
    double low = value(from), high = low;
    for (auto k = from; k < to; ++k) low = std::min(low, value(k)), high = std::max(high, value(k));
    if (low == high) return out;
    out.node.threshold = std::max(low + (high - low) * random_.uniform(), std::nextafter(low, high));
  } else {
    std::vector<double> present;
    for (auto k = from; k < to; ++k) present.push_back(value(k));
    std::ranges::sort(present);
    present.erase(std::ranges::unique(present).begin(), present.end());
    if (present.size() < 2) return out;
    for (std::size_t k = present.size(); k > 1; --k) std::swap(present[k - 1], present[random_.below(k)]);
    present.resize(1 + random_.below(present.size() - 1));
    out.node.left = std::move(present);
  }
  double sums[2] = {}, counts[2] = {};
  for (auto k = from; k < to; ++k) {
    const int side = goes_left(out.node, value(k)) ? 0 : 1;
    sums[side] += values_[rows[k]];
    counts[side] += 1;
  }
  const double all = sums[0] + sums[1];
  out.gain = std::max(
      0.0, sums[0] * sums[0] / counts[0] + sums[1] * sums[1] / counts[1] - all * all / (counts[0] + counts[1]));
  return out;
}

bool Forest::goes_left(const Node& node, double value) const {
  if (ordered_[static_cast<std::size_t>(node.parameter)] != 0) return value < node.threshold;
  return std::ranges::find(node.left, value) != node.left.end();
}

Forest::Prediction Forest::at(const Eigen::VectorXd& x) const {
  double sum = 0, squares = 0;
  for (auto at : roots_) {
    while (nodes_[at].parameter >= 0)
      at = goes_left(nodes_[at], x[nodes_[at].parameter]) ? nodes_[at].below : nodes_[at].above;
    sum += nodes_[at].mean;
    squares += nodes_[at].variance + nodes_[at].mean * nodes_[at].mean;
  }
  const auto count = static_cast<double>(trees);
  const double mean = sum / count;
  return {mean, std::max(squares / count - mean * mean, least_leaf_variance)};
}

}  // namespace culmen::bayes
