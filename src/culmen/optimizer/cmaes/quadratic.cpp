#include "culmen/optimizer/cmaes/quadratic.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace culmen::cmaes {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {
constexpr double least_pivot = 1e-9;  // over the largest, of columns of length 1
constexpr double worst_share = 0.05;  // of the best result's weight, before it is squared
}  // namespace

Quadratic::Quadratic(std::size_t n) : coefficients_((n + 1) * (n + 2) / 2) {}

void Quadratic::add(const VectorXd& point, double value) {
  results_.push_back({point, value});
  if (results_.size() > 2 * coefficients_) results_.pop_front();
  ++new_;
}

void Quadratic::fill(const VectorXd& z, Eigen::Ref<VectorXd> row) const {
  Index c = 0;
  row[c++] = 1;
  for (Index i = 0; i < z.size(); ++i) {
    row[c++] = z[i];
    for (Index j = 0; j <= i; ++j) row[c++] = z[i] * z[j];
  }
}

void Quadratic::fit(const Density& frame) {
  if (4 * new_ < 3 * coefficients_) return;
  new_ = 0;
  fitted_ = false;
  if (4 * results_.size() < 5 * coefficients_) return;
  const auto [low, high] = std::ranges::minmax_element(results_, {}, &Result::value);
  const double spread = high->value - low->value;
  if (!(spread > 0) || !std::isfinite(spread)) return;
  frame_ = frame;
  solve(low->value);
}

void Quadratic::solve(double lowest) {
  const auto rows = static_cast<Index>(results_.size());
  std::vector<double> sorted;
  for (const auto& r : results_) sorted.push_back(r.value);
  std::ranges::sort(sorted);
  MatrixXd transposed(static_cast<Index>(coefficients_), rows);
  VectorXd right(rows);
  for (Index k = 0; k < rows; ++k) {
    const auto& r = results_[static_cast<std::size_t>(k)];
    const VectorXd z = frame_.whitened(r.point - frame_.mean);
    const auto better = std::ranges::lower_bound(sorted, r.value) - sorted.begin();
    const double rank = static_cast<double>(better) / static_cast<double>(rows);
    const double by_rank = 1 - (1 - worst_share) * rank;
    const double weight = by_rank * by_rank / (1 + z.squaredNorm() / (3 * static_cast<double>(z.size())));
    fill(z, transposed.col(k));
    transposed.col(k) *= weight;
    right[k] = weight * (r.value - lowest);
  }
  const VectorXd lengths = transposed.rowwise().norm();
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> qr;
  qr.setThreshold(least_pivot);
  qr.compute(transposed.transpose() * lengths.cwiseInverse().asDiagonal());
  solution_ = qr.solve(right).cwiseQuotient(lengths);
  fitted_ = solution_.allFinite();
}

double Quadratic::operator()(const VectorXd& point) const {
  VectorXd row(static_cast<Index>(coefficients_));
  fill(frame_.whitened(point - frame_.mean), row);
  return row.dot(solution_);
}

double rank_correlation(const std::vector<std::pair<double, double>>& pairs) {
  double sum = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double a = pairs[i].first - pairs[j].first, b = pairs[i].second - pairs[j].second;
      sum += static_cast<double>((a > 0) - (a < 0)) * static_cast<double>((b > 0) - (b < 0));
    }
  }
  const auto n = static_cast<double>(pairs.size());
  return pairs.size() < 2 ? 0 : 2 * sum / (n * (n - 1));
}

}  // namespace culmen::cmaes
