#include "culmen/optimizer/methods/cmaes/quadratic.hpp"

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

void fill(const VectorXd& z, Eigen::Ref<VectorXd> row) {
  Index c = 0;
  row[c++] = 1;
  for (Index i = 0; i < z.size(); ++i) {
    row[c++] = z[i];
    for (Index j = 0; j <= i; ++j) row[c++] = z[i] * z[j];
  }
}
}  // namespace

Quadratic::Quadratic(std::size_t n) : coefficients_((n + 1) * (n + 2) / 2) {}

void Quadratic::add(const VectorXd& point, double value) {
  results_.push_back({point, value});
  if (results_.size() > 2 * coefficients_) results_.pop_front();
  ++new_;
}

std::optional<Quadratic::Fit> Quadratic::due(const Density& frame) {
  if (4 * new_ < 3 * coefficients_) return {};
  new_ = 0;
  return Fit{frame, {results_.begin(), results_.end()}};
}

void Quadratic::adopt(const Density& frame, VectorXd coefficients) {
  frame_ = frame;
  solution_ = std::move(coefficients);
  fitted_ = static_cast<std::size_t>(solution_.size()) == coefficients_ && solution_.allFinite();
}

VectorXd Quadratic::Fit::coefficients() const {
  const auto n = frame.mean.size(), columns = (n + 1) * (n + 2) / 2, rows = static_cast<Index>(results.size());
  std::vector<double> sorted;
  for (const auto& r : results) sorted.push_back(r.value);
  std::ranges::sort(sorted);
  if (4 * rows < 5 * columns || !(sorted.back() > sorted.front()) || !std::isfinite(sorted.back() - sorted.front()))
    return {};
  MatrixXd transposed(columns, rows);
  VectorXd right(rows);
  for (Index k = 0; k < rows; ++k) {
    const auto& r = results[static_cast<std::size_t>(k)];
    const VectorXd z = frame.whitened(r.point - frame.mean);
    const auto better = std::ranges::lower_bound(sorted, r.value) - sorted.begin();
    const double rank = static_cast<double>(better) / static_cast<double>(rows);
    const double by_rank = 1 - (1 - worst_share) * rank;
    const double weight = by_rank * by_rank / (1 + z.squaredNorm() / (3 * static_cast<double>(n)));
    fill(z, transposed.col(k));
    transposed.col(k) *= weight;
    right[k] = weight * (r.value - sorted.front());
  }
  const VectorXd lengths = transposed.rowwise().norm();
  Eigen::CompleteOrthogonalDecomposition<MatrixXd> qr;
  qr.setThreshold(least_pivot);
  qr.compute(transposed.transpose() * lengths.cwiseInverse().asDiagonal());
  return qr.solve(right).cwiseQuotient(lengths);
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
