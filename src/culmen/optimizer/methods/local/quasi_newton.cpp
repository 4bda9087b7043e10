#include "culmen/optimizer/methods/local/quasi_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "culmen/optimizer/parts/linear_model.hpp"

namespace culmen::local {
namespace {
constexpr double least_curvature_share = 0.2;  // of the model's curvature along a step
}

void QuasiNewton::begin(Eigen::VectorXd diagonal) { matrix_ = diagonal.asDiagonal(); }

bool QuasiNewton::learn(const Eigen::VectorXd& step, const Eigen::VectorXd& change) {
  const double seen = step.dot(change);
  const Eigen::VectorXd expected = matrix_ * step;
  const double model = step.dot(expected);
  if (!(model > 0) || !std::isfinite(seen)) return false;
  const double share = seen >= least_curvature_share * model ? 1 : (1 - least_curvature_share) * model / (model - seen);
  const Eigen::VectorXd r = share * change + (1 - share) * expected;
  Eigen::MatrixXd next = matrix_;
  next.noalias() += r * r.transpose() / step.dot(r) - expected * expected.transpose() / model;
  if (next.allFinite()) matrix_ = std::move(next);
  return share == 1;
}

Eigen::VectorXd QuasiNewton::step(const Eigen::VectorXd& x, const Eigen::VectorXd& gradient) const {
  const Eigen::LLT<Eigen::MatrixXd> factors(matrix_);
  if (factors.info() != Eigen::Success) return {};
  const LinearModel model(factors.matrixU(), factors.matrixL().solve(gradient));
  if (!model.healthy()) return {};
  return model.step(0, -x, Eigen::VectorXd::Ones(x.size()) - x);
}

double QuasiNewton::reduction(const Eigen::VectorXd& gradient, const Eigen::VectorXd& d) const {
  return -gradient.dot(d) - 0.5 * d.dot(matrix_ * d);
}

Eigen::VectorXd inwards(const Eigen::VectorXd& x, Eigen::VectorXd direction) {
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if ((x[i] <= 0 && direction[i] < 0) || (x[i] >= 1 && direction[i] > 0)) direction[i] = 0;
  }
  return direction;
}

double step_to_bound(const Eigen::VectorXd& x, const Eigen::VectorXd& direction) {
  double least = std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double room = direction[i] > 0 ? 1 - x[i] : x[i];
    if (direction[i] != 0) least = std::min(least, room / std::abs(direction[i]));
  }
  return least;
}

}  // namespace culmen::local
