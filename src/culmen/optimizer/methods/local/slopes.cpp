#include "culmen/optimizer/methods/local/slopes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace culmen::local {
namespace {
constexpr double least_size = 1e-5, most_size = 10;
constexpr double rounding_share = 1e-3;  // of the first value
}  // namespace

Slopes::Slopes(Eigen::Index parameters, double noise)
    : differences_(Eigen::VectorXd::Zero(parameters), Eigen::VectorXd::Ones(parameters), noise, false),
      noise_(noise),
      sizes_(Eigen::VectorXd::Ones(parameters)) {}

void Slopes::propose(const Eigen::VectorXd& x, Accuracy accuracy, std::vector<Eigen::VectorXd>& points) {
  x_ = x;
  points_.clear();
  differences_.propose(x, sizes_, accuracy, points_);
  points.insert(points.end(), points_.begin(), points_.end());
}

Eigen::VectorXd Slopes::gradient(double value, const std::vector<double>& values, std::size_t first) {
  std::vector<Reply> replies(points_.size());
  for (std::size_t k = 0; k < points_.size(); ++k) {
    if (const double there = values[first + k]; std::isfinite(there))
      replies[k] = {Eigen::VectorXd::Constant(1, there - value), 0};
  }
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(1);
  const Eigen::VectorXd slopes = differences_.jacobian(zero, replies).row(0).transpose();
  curvatures_ = Eigen::VectorXd::Constant(x_.size(), std::numeric_limits<double>::quiet_NaN());
  if (points_.size() == 2 * static_cast<std::size_t>(x_.size())) {
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      const auto k = 2 * static_cast<std::size_t>(i);
      if (!replies[k].ok() || !replies[k + 1].ok()) continue;
      const double a = points_[k][i] - x_[i], b = points_[k + 1][i] - x_[i];
      curvatures_[i] = 2 * (replies[k].residuals[0] / a - replies[k + 1].residuals[0] / b) / (a - b);
    }
  }
  return slopes;
}

void Slopes::fit(double rounding, const Eigen::VectorXd& curvature) {
  for (Eigen::Index i = 0; i < sizes_.size(); ++i) {
    const double size = 2 * std::sqrt(rounding / noise_ / std::abs(curvature[i]));
    if (size > 0) sizes_[i] = std::clamp(size, least_size, most_size);
  }
}

double rounding_of(double noise, double value, double first) {
  return noise * std::max(std::abs(value), rounding_share * std::abs(first));
}

}  // namespace culmen::local
