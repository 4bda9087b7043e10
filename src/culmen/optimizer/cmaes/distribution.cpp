#include "culmen/optimizer/cmaes/distribution.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Distribution::Distribution(const Constants& constants, VectorXd mean, double sigma, VectorXd floors)
    : constants_(constants), mean_(std::move(mean)), sigma_(sigma), floors_(std::move(floors)) {
  const auto n = static_cast<Index>(constants_.n);
  scaling_ = VectorXd::Ones(n);
  at_floor_.assign(constants_.n, 0);
  covariance_ = basis_ = transform_ = MatrixXd::Identity(n, n);
  axes_ = VectorXd::Ones(n);
  sigma_path_ = covariance_path_ = VectorXd::Zero(n);
  steps_ = MatrixXd::Zero(n, static_cast<Index>(constants_.population));
  squared_norms_ = VectorXd::Zero(static_cast<Index>(constants_.population));
  normal_ = point_ = VectorXd::Zero(n);
  hold_floors();
}

const VectorXd& Distribution::sample(std::size_t k, Random& random) {
  for (double& z : normal_) z = random.normal();
  auto step = steps_.col(static_cast<Index>(k));
  step.noalias() = transform_ * normal_;
  squared_norms_[static_cast<Index>(k)] = normal_.squaredNorm();
  point_ = mean_ + sigma_ * scaling_.cwiseProduct(step);
  return point_;
}

void Distribution::update(std::span<const double> weights) {
  const Eigen::Map<const VectorXd> w(weights.data(), static_cast<Index>(weights.size()));
  const VectorXd shift = steps_ * w.cwiseMax(0.0);
  mean_ += sigma_ * scaling_.cwiseProduct(shift);
  const VectorXd isotropic = basis_ * (basis_.transpose() * shift).cwiseQuotient(axes_);
  const auto& c = constants_;
  sigma_path_ = (1 - c.cs) * sigma_path_ + std::sqrt(c.cs * (2 - c.cs) * c.mueff) * isotropic;
  ++generation_;

  const double ratio = free_path_ratio();
  const double warm_up = 1 - std::pow(1 - c.cs, 2.0 * static_cast<double>(generation_));
  const bool stalled = ratio * ratio / warm_up >= 2 + 4 / (static_cast<double>(c.n) + 1);
  covariance_path_ *= 1 - c.cc;
  if (!stalled) covariance_path_ += std::sqrt(c.cc * (2 - c.cc) * c.mueff) * shift;
  learn_covariance(weights, stalled);
  learn_sigma(ratio);
  hold_floors();
  if (generation_ >= decomposed_ + c.eigen_gap) decompose();
  healthy_ = healthy_ && std::isfinite(sigma_) && mean_.allFinite();
}

/// Length of the step-size path over its expectation under neutral selection; coordinates at their floor are left out.
double Distribution::free_path_ratio() const {
  double square = 0;
  std::size_t free = 0;
  for (std::size_t i = 0; i < constants_.n; ++i) {
    if (at_floor_[i]) continue;
    square += sigma_path_[static_cast<Index>(i)] * sigma_path_[static_cast<Index>(i)];
    ++free;
  }
  return free == 0 ? 1 : std::sqrt(square) / expected_norm(free);
}

void Distribution::learn_covariance(std::span<const double> weights, bool stalled) {
  const auto& c = constants_;
  const double n = static_cast<double>(c.n);
  VectorXd scaled(static_cast<Index>(weights.size()));
  double sum = 0;
  for (Index k = 0; k < scaled.size(); ++k) {
    const double w = weights[static_cast<std::size_t>(k)];
    sum += w;
    scaled[k] = c.cmu * (w < 0 ? w * n / squared_norms_[k] : w);
  }
  const double lost = stalled ? c.c1 * c.cc * (2 - c.cc) : 0;
  covariance_ *= 1 + lost - c.c1 - c.cmu * sum;
  covariance_.selfadjointView<Eigen::Lower>().rankUpdate(covariance_path_, c.c1);
  const MatrixXd weighted = steps_ * scaled.asDiagonal();
  covariance_.triangularView<Eigen::Lower>() += weighted * steps_.transpose();
}

void Distribution::learn_sigma(double path_ratio) {
  sigma_ *= std::exp(std::min(1.0, constants_.cs / constants_.damps * (path_ratio - 1)));
}

void Distribution::hold_floors() {
  for (std::size_t i = 0; i < constants_.n; ++i) {
    const double floor = floors_[static_cast<Index>(i)], now = deviation(i);
    at_floor_[i] = now < floor;
    if (at_floor_[i]) scaling_[static_cast<Index>(i)] *= floor / now;
  }
}

void Distribution::decompose() {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(covariance_);
  decomposed_ = generation_;
  healthy_ = solver.info() == Eigen::Success && solver.eigenvalues()[0] > 0 && solver.eigenvalues().allFinite();
  if (!healthy_) return;
  axes_ = solver.eigenvalues().cwiseSqrt();
  basis_ = solver.eigenvectors();
  transform_ = basis_ * axes_.asDiagonal();
}

double Distribution::deviation(std::size_t i) const {
  const auto k = static_cast<Index>(i);
  return sigma_ * scaling_[k] * std::sqrt(covariance_(k, k));
}

double Distribution::path(std::size_t i) const {
  const auto k = static_cast<Index>(i);
  return sigma_ * scaling_[k] * covariance_path_[k];
}

VectorXd Distribution::axis(std::size_t i) const {
  return sigma_ * scaling_.cwiseProduct(transform_.col(static_cast<Index>(i)));
}

}  // namespace culmen::cmaes
