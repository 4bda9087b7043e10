#include "culmen/optimizer/methods/cmaes/limited_memory.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
using Eigen::Index;

std::size_t LimitedMemory::default_count(std::size_t n) { return Constants::default_population(n); }

LimitedMemory::LimitedMemory(const Constants& constants, std::size_t count) {
  const double n = static_cast<double>(constants.n), lambda = static_cast<double>(constants.population);
  directions_ = Eigen::MatrixXd::Zero(static_cast<Index>(constants.n), static_cast<Index>(count));
  for (std::size_t j = 0; j < count; ++j) {
    shares_.push_back(1 / (std::pow(1.5, static_cast<double>(j)) * n));
    rates_.push_back(std::min(1.0, lambda / (std::pow(4.0, static_cast<double>(j)) * n)));
  }
}

void LimitedMemory::transform(Eigen::Ref<Eigen::MatrixXd> columns) const {
  for (Index j = 0; j < known_; ++j) {
    const auto direction = directions_.col(j);
    const double share = shares_[static_cast<std::size_t>(j)];
    const Eigen::RowVectorXd along = direction.transpose() * columns;
    columns *= 1 - share;
    columns.noalias() += share * direction * along;
  }
}

void LimitedMemory::whiten(Eigen::Ref<Eigen::MatrixXd> columns) const {
  for (Index j = known_ - 1; j >= 0; --j) {
    const auto direction = directions_.col(j);
    const double share = shares_[static_cast<std::size_t>(j)];
    const Eigen::RowVectorXd along = direction.transpose() * columns;
    columns.noalias() -= share / (1 - share + share * direction.squaredNorm()) * direction * along;
    columns /= 1 - share;
  }
}

double LimitedMemory::log_volume() const {
  double sum = 0;
  for (Index j = 0; j < known_; ++j) {
    const double share = shares_[static_cast<std::size_t>(j)];
    sum += static_cast<double>(directions_.rows()) * std::log1p(-share) +
           std::log1p(share * directions_.col(j).squaredNorm() / (1 - share));
  }
  return sum;
}

void LimitedMemory::learn(const Eigen::VectorXd& shift, double mueff) {
  for (Index j = 0; j < directions_.cols(); ++j) {
    const double rate = rates_[static_cast<std::size_t>(j)];
    directions_.col(j) = (1 - rate) * directions_.col(j) + std::sqrt(mueff * rate * (2 - rate)) * shift;
  }
  known_ = std::min(known_ + 1, directions_.cols());
  if (++learned_ % 10 == 0) stretch_ = measured_stretch();
}

double LimitedMemory::measured_stretch() const {
  Eigen::MatrixXd along = directions_.leftCols(known_).colwise().normalized();
  transform(along);
  double across = 1;
  for (Index j = 0; j < known_; ++j) across *= 1 - shares_[static_cast<std::size_t>(j)];
  return along.colwise().norm().maxCoeff() / across;
}

}  // namespace culmen::cmaes
