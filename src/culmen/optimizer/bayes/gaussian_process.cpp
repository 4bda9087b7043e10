#include "culmen/optimizer/bayes/gaussian_process.hpp"

#include <nlopt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

namespace culmen::bayes {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const double root5 = std::sqrt(5.0);
constexpr double jitter = 1e-13;
constexpr double farthest = 12;  // of a logarithm from the middle of its prior

/// Gaussian, of a logarithm.
struct Prior {
  double mean, deviation;
};
Prior length_prior(std::size_t n) { return {0.5 * std::log(static_cast<double>(n)), 1}; }
constexpr Prior matern_prior{-1, 2}, trend_prior{0, 2}, noise_prior{-23, 4};

Prior prior_of(Index k, Index n) {
  if (k < n) return length_prior(static_cast<std::size_t>(n));
  return std::array{matern_prior, trend_prior, noise_prior}[static_cast<std::size_t>(k - n)];
}

struct Fit {
  const GaussianProcess* process;
  VectorXd best;
  double best_loss = std::numeric_limits<double>::infinity();
};

double nlopt_loss(unsigned n, const double* x, double* slope, void* data) {
  auto& fit = *static_cast<Fit*>(data);
  const VectorXd at = Eigen::Map<const VectorXd>(x, n);
  VectorXd gradient;
  const double loss = fit.process->loss(Hyperparameters::unpacked(at), &gradient);
  if (slope != nullptr) Eigen::Map<VectorXd>(slope, n) = gradient;
  if (loss < fit.best_loss) {
    fit.best_loss = loss;
    fit.best = at;
  }
  return loss;
}
}  // namespace

Hyperparameters Hyperparameters::standard(std::size_t n) {
  return {VectorXd::Constant(static_cast<Index>(n), length_prior(n).mean), matern_prior.mean, trend_prior.mean,
          noise_prior.mean};
}

VectorXd Hyperparameters::packed() const {
  VectorXd out(lengths.size() + 3);
  out << lengths, matern, trend, noise;
  return out;
}

Hyperparameters Hyperparameters::unpacked(const VectorXd& packed) {
  const Index n = packed.size() - 3;
  return {packed.head(n), packed[n], packed[n + 1], packed[n + 2]};
}

struct GaussianProcess::Parts {
  MatrixXd r, matern, trend, all;
};

GaussianProcess::GaussianProcess(MatrixXd points, VectorXd values, std::vector<char> ordered)
    : points_(std::move(points)), values_(std::move(values)), ordered_(std::move(ordered)) {
  MatrixXd reals = points_;
  for (Index i = 0; i < reals.cols(); ++i)
    if (ordered_[static_cast<std::size_t>(i)] == 0) reals.col(i).setZero();
  products_ = (reals * reals.transpose() / static_cast<double>(reals.cols())).array() + 1;
}

double GaussianProcess::difference(const VectorXd& x, Index row, Index i) const {
  const double d = x[i] - points_(row, i);
  return ordered_[static_cast<std::size_t>(i)] != 0 ? d : static_cast<double>(d != 0);
}

GaussianProcess::Parts GaussianProcess::parts(const Hyperparameters& at) const {
  const Index m = points_.rows(), n = points_.cols();
  Parts out{MatrixXd::Zero(m, m), {}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    const double inverse = std::exp(-2 * at.lengths[i]);
    const bool has_order = ordered_[static_cast<std::size_t>(i)] != 0;
    for (Index a = 0; a < m; ++a) {
      auto d = (points_.col(i).array() - points_(a, i)).eval();
      if (!has_order) d = (d != 0).cast<double>();
      out.r.col(a).array() += d.square() * inverse;
    }
  }
  out.r = out.r.array().sqrt() * root5;
  out.matern = std::exp(at.matern) * (1 + out.r.array() + out.r.array().square() / 3) * (-out.r.array()).exp();
  out.trend = std::exp(at.trend) * products_.array().square();
  out.all = out.matern + out.trend;
  out.all.diagonal().array() += std::exp(at.noise) + jitter * (std::exp(at.matern) + std::exp(at.trend));
  return out;
}

double GaussianProcess::loss(const Hyperparameters& at, VectorXd* slope) const {
  const Index m = points_.rows(), n = points_.cols();
  const VectorXd packed = at.packed();
  const auto p = parts(at);
  const Eigen::LLT<MatrixXd> factor(p.all);
  if (slope != nullptr) *slope = VectorXd::Zero(n + 3);
  if (factor.info() != Eigen::Success) return 1e100;
  const VectorXd weights = factor.solve(values_);
  double out = 0.5 * values_.dot(weights) + factor.matrixLLT().diagonal().array().log().sum();
  for (Index k = 0; k < n + 3; ++k) {
    const auto prior = prior_of(k, n);
    out += 0.5 * std::pow((packed[k] - prior.mean) / prior.deviation, 2);
    if (slope != nullptr) (*slope)[k] = (packed[k] - prior.mean) / (prior.deviation * prior.deviation);
  }
  if (slope == nullptr) return out;
  MatrixXd w = factor.solve(MatrixXd::Identity(m, m));
  w.noalias() -= weights * weights.transpose();
  w *= 0.5;
  const double relative = jitter * w.trace();
  (*slope)[n] += w.cwiseProduct(p.matern).sum() + relative * std::exp(at.matern);
  (*slope)[n + 1] += w.cwiseProduct(p.trend).sum() + relative * std::exp(at.trend);
  (*slope)[n + 2] += w.trace() * std::exp(at.noise);
  const MatrixXd common =
      (w.array() * (5.0 / 3 * std::exp(at.matern)) * (1 + p.r.array()) * (-p.r.array()).exp()).matrix();
  for (Index i = 0; i < n; ++i) {
    const double inverse = std::exp(-2 * at.lengths[i]);
    double sum = 0;
    for (Index a = 0; a < m; ++a) {
      auto d = (points_.col(i).array() - points_(a, i)).eval();
      if (ordered_[static_cast<std::size_t>(i)] == 0) d = (d != 0).cast<double>();
      sum += (common.col(a).array() * d.square()).sum();
    }
    (*slope)[i] += sum * inverse;
  }
  return out;
}

void GaussianProcess::fit(const Hyperparameters& from, int most_steps) {
  VectorXd x = from.packed();
  const Index n = x.size() - 3;
  VectorXd lower(x.size()), upper(x.size());
  for (Index k = 0; k < x.size(); ++k) {
    lower[k] = prior_of(k, n).mean - farthest;
    upper[k] = prior_of(k, n).mean + farthest;
  }
  x = x.cwiseMax(lower).cwiseMin(upper);
  Fit fit{this, x};
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> search(
      nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(x.size())), nlopt_destroy);
  nlopt_set_min_objective(search.get(), nlopt_loss, &fit);
  nlopt_set_lower_bounds(search.get(), lower.data());
  nlopt_set_upper_bounds(search.get(), upper.data());
  nlopt_set_maxeval(search.get(), most_steps);
  nlopt_set_ftol_abs(search.get(), 1e-3);
  double loss = 0;
  nlopt_optimize(search.get(), x.data(), &loss);
  set(Hyperparameters::unpacked(fit.best));
}

void GaussianProcess::set(const Hyperparameters& hyperparameters) {
  hyperparameters_ = hyperparameters;
  auto covariance = parts(hyperparameters_).all;
  for (double more = covariance.trace() * 1e-12;; more *= 10) {
    factor_.compute(covariance);
    if (factor_.info() == Eigen::Success) break;
    covariance.diagonal().array() += more;
  }
  weights_ = factor_.solve(values_);
}

Posterior GaussianProcess::posterior(const VectorXd& x, bool slopes) const {
  const Index m = points_.rows(), n = points_.cols();
  const double matern = std::exp(hyperparameters_.matern), trend = std::exp(hyperparameters_.trend);
  const VectorXd inverse = (-2 * hyperparameters_.lengths.array()).exp();
  VectorXd reals = x;
  for (Index i = 0; i < n; ++i)
    if (ordered_[static_cast<std::size_t>(i)] == 0) reals[i] = 0;
  const double share = 1.0 / static_cast<double>(n), own = 1 + reals.squaredNorm() * share;
  VectorXd covariance(m), steepness(m), product = (points_ * reals * share).array() + 1;
  for (Index a = 0; a < m; ++a) {
    double r = 0;
    for (Index i = 0; i < n; ++i) r += std::pow(difference(x, a, i), 2) * inverse[i];
    r = root5 * std::sqrt(r);
    const double decay = matern * std::exp(-r);
    covariance[a] = decay * (1 + r + r * r / 3) + trend * product[a] * product[a];
    steepness[a] = -5.0 / 3 * decay * (1 + r);
  }
  const VectorXd solved = factor_.solve(covariance);
  Posterior out;
  out.mean = covariance.dot(weights_);
  out.variance = std::max(matern + trend * own * own - covariance.dot(solved), 1e-14 * (matern + trend));
  if (!slopes) return out;
  out.mean_slope = out.variance_slope = VectorXd::Zero(n);
  for (Index i = 0; i < n; ++i) {
    if (ordered_[static_cast<std::size_t>(i)] == 0) continue;
    double variance = 4 * trend * own * x[i] * share;
    for (Index a = 0; a < m; ++a) {
      const double slope =
          steepness[a] * (x[i] - points_(a, i)) * inverse[i] + 2 * trend * product[a] * points_(a, i) * share;
      out.mean_slope[i] += weights_[a] * slope;
      variance -= 2 * solved[a] * slope;
    }
    out.variance_slope[i] = variance;
  }
  return out;
}

}  // namespace culmen::bayes
