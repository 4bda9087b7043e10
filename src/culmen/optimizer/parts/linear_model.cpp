#include "culmen/optimizer/parts/linear_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace culmen {

LinearModel::LinearModel(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residuals) {
  const Eigen::Index n = jacobian.cols();
  scale_.resize(n);
  Eigen::MatrixXd scaled = jacobian;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double length = jacobian.col(i).stableNorm();
    scale_[i] = length > 0 ? length : 1;
    scaled.col(i) /= scale_[i];
  }
  const Eigen::Index rank = std::min(scaled.rows(), n);
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(scaled);
  factor_ = qr.matrixQR().topRows(rank).template triangularView<Eigen::Upper>();
  target_ = (qr.householderQ().adjoint() * residuals).head(rank);
}

bool LinearModel::healthy() const { return scale_.allFinite() && factor_.allFinite() && target_.allFinite(); }

double LinearModel::reduction(const Eigen::VectorXd& d) const {
  const Eigen::VectorXd change = factor_ * d.cwiseProduct(scale_);
  return -change.dot(2 * target_ + change);
}

/// Least squares of a s + b over the coordinates that are not fixed. Fixed ones keep their value in s.
Eigen::VectorXd LinearModel::solve(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, const std::vector<char>& fixed,
                                   const Eigen::VectorXd& s) const {
  std::vector<Eigen::Index> free;
  Eigen::VectorXd rest = -b;
  for (Eigen::Index i = 0; i < s.size(); ++i) {
    if (fixed[static_cast<std::size_t>(i)]) rest -= a.col(i) * s[i];
    else free.push_back(i);
  }
  Eigen::VectorXd out = s;
  if (free.empty()) return out;
  const Eigen::MatrixXd columns = a(Eigen::all, free);
  const Eigen::VectorXd found = columns.householderQr().solve(rest);
  for (std::size_t k = 0; k < free.size(); ++k) out[free[k]] = found[static_cast<Eigen::Index>(k)];
  return out;
}

Eigen::VectorXd LinearModel::step(double damping, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) const {
  const Eigen::Index n = scale_.size();
  Eigen::MatrixXd a(factor_.rows() + n, n);
  a << factor_, std::sqrt(damping) * Eigen::MatrixXd::Identity(n, n);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(a.rows());
  b.head(target_.size()) = target_;
  const Eigen::VectorXd low = lower.cwiseProduct(scale_), high = upper.cwiseProduct(scale_);

  Eigen::VectorXd s = Eigen::VectorXd::Zero(n);
  std::vector<char> fixed(static_cast<std::size_t>(n));
  const Eigen::VectorXd slope = a.transpose() * b;
  for (Eigen::Index i = 0; i < n; ++i)
    fixed[static_cast<std::size_t>(i)] = (low[i] >= 0 && slope[i] > 0) || (high[i] <= 0 && slope[i] < 0);
  for (Eigen::Index rounds = 0; rounds < 10 * n + 10; ++rounds) {
    const Eigen::VectorXd wish = solve(a, b, fixed, s);
    double share = 1;
    Eigen::Index hit = -1;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (fixed[static_cast<std::size_t>(i)]) continue;
      const double bound = wish[i] > high[i] ? high[i] : wish[i] < low[i] ? low[i] : wish[i];
      if (bound == wish[i]) continue;
      const double to_bound = std::max(0.0, (bound - s[i]) / (wish[i] - s[i]));
      if (to_bound < share || hit < 0) share = std::min(share, to_bound), hit = i;
    }
    s += share * (wish - s);
    if (hit >= 0) {
      s[hit] = wish[hit] > high[hit] ? high[hit] : low[hit];
      fixed[static_cast<std::size_t>(hit)] = 1;
      continue;
    }
    const Eigen::VectorXd pull = a.transpose() * (a * s + b);
    Eigen::Index freed = -1;
    double strongest = 1e-12 * b.norm();
    for (Eigen::Index i = 0; i < n; ++i) {
      if (!fixed[static_cast<std::size_t>(i)]) continue;
      const double inwards = s[i] >= high[i] ? pull[i] : -pull[i];
      if (inwards > strongest) strongest = inwards, freed = i;
    }
    if (freed < 0) break;
    fixed[static_cast<std::size_t>(freed)] = 0;
  }
  Eigen::VectorXd d = s.cwiseQuotient(scale_);
  for (Eigen::Index i = 0; i < n; ++i) d[i] = s[i] >= high[i] ? upper[i] : s[i] <= low[i] ? lower[i] : d[i];
  return d;
}

}  // namespace culmen
