#include "culmen/optimizer/methods/bayes/gaussian_process.hpp"

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

constexpr double jitter = 1e-13;
constexpr double least_variance = 1e-14;  // as a share of the variance without points
constexpr double farthest = 22;           // distance of a logarithm from the middle of its prior

/// The prior of a logarithm: Gaussian, or with the tails of a Cauchy density.
struct Prior {
  double mean, deviation;
  bool wide = false;
  double loss(double x) const {
    const double d = (x - mean) / deviation;
    return wide ? std::log1p(d * d) : 0.5 * d * d;
  }
  double slope(double x) const {
    const double d = (x - mean) / deviation;
    return (wide ? 2 * d / (1 + d * d) : d) / deviation;
  }
};
Prior length_prior(std::size_t n) { return {0.5 * std::log(static_cast<double>(n)), 1}; }
constexpr Prior matern_prior{-1, 2}, trend_prior{0, 2}, noise_prior{-23, 4, true};

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

/// Covariances of the points (rows) and others (columns).
struct GaussianProcess::Covariance {
  MatrixXd all, steepness;  ///< steepness: derivative of the Matérn part by half the squared distance
  MatrixXd products;
};

GaussianProcess::GaussianProcess(MatrixXd points, VectorXd values, std::vector<char> ordered)
    : points_(std::move(points)),
      values_(std::move(values)),
      ordered_(std::move(ordered)),
      has_order_(
          Eigen::Map<const Eigen::Array<char, Eigen::Dynamic, 1>>(ordered_.data(), points_.cols()).cast<double>()) {
  const Index m = points_.rows(), n = points_.cols();
  const MatrixXd reals = points_ * has_order_.asDiagonal();
  products_ = (reals * reals.transpose() / static_cast<double>(n)).array() + 1;
  squares_.resize(m * (m - 1) / 2, n);
  for (Index i = 0; i < n; ++i) {
    const bool has_order = ordered_[static_cast<std::size_t>(i)] != 0;
    for (Index a = 0, at = 0; a < m; at += m - 1 - a, ++a) {
      const auto d = points_.col(i).tail(m - 1 - a).array() - points_(a, i);
      auto out = squares_.col(i).segment(at, m - 1 - a).array();
      if (has_order) out = d.square();
      else out = (d != 0).cast<double>();
    }
  }
}

VectorXd GaussianProcess::inverse_squares(const Hyperparameters& at) const { return (-2 * at.lengths.array()).exp(); }

VectorXd GaussianProcess::packed_distances(const Hyperparameters& at) const {
  return (5 * (squares_ * inverse_squares(at)).array()).sqrt();
}

double GaussianProcess::nugget(const Hyperparameters& at) const {
  return std::exp(at.noise) + jitter * (std::exp(at.matern) + std::exp(at.trend));
}

/// Only its lower triangle.
MatrixXd GaussianProcess::covariance(const Hyperparameters& at, const VectorXd& distances) const {
  const Index m = points_.rows();
  const auto r = distances.array();
  const VectorXd matern = std::exp(at.matern) * (1 + r + r.square() / 3) * (-r).exp();
  MatrixXd out = std::exp(at.trend) * products_.array().square();
  for (Index a = 0, from = 0; a < m; from += m - 1 - a, ++a)
    out.col(a).tail(m - 1 - a) += matern.segment(from, m - 1 - a);
  out.diagonal().array() += std::exp(at.matern) + nugget(at);
  return out;
}

double GaussianProcess::loss(const Hyperparameters& at, VectorXd* slope) const {
  const Index m = points_.rows(), n = points_.cols();
  const VectorXd packed = at.packed(), distances = packed_distances(at);
  const Eigen::LLT<MatrixXd> factor(covariance(at, distances));
  if (slope != nullptr) *slope = VectorXd::Zero(n + 3);
  if (factor.info() != Eigen::Success) return 1e100;
  const VectorXd weights = factor.solve(values_);
  double out = 0.5 * values_.dot(weights) + factor.matrixLLT().diagonal().array().log().sum();
  for (Index k = 0; k < n + 3; ++k) {
    const auto prior = prior_of(k, n);
    out += prior.loss(packed[k]);
    if (slope != nullptr) (*slope)[k] = prior.slope(packed[k]);
  }
  if (slope == nullptr) return out;
  const MatrixXd half = factor.matrixL().solve(MatrixXd::Identity(m, m));
  MatrixXd w = MatrixXd::Zero(m, m);  // K⁻¹ - weights·weights', its lower triangle
  w.selfadjointView<Eigen::Lower>().rankUpdate(half.transpose());
  w.selfadjointView<Eigen::Lower>().rankUpdate(weights, -1);
  VectorXd pairs(distances.size());
  double by_trend = 0;
  for (Index a = 0, from = 0; a < m; from += m - 1 - a, ++a) {
    const auto below = w.col(a).tail(m - 1 - a).array();
    pairs.segment(from, m - 1 - a) = below;
    by_trend += (below * products_.col(a).tail(m - 1 - a).array().square()).sum() +
                0.5 * w(a, a) * products_(a, a) * products_(a, a);
  }
  const double trace = 0.5 * w.trace(), matern = std::exp(at.matern), trend = std::exp(at.trend);
  const auto r = distances.array();
  const Eigen::ArrayXd decay = matern * (-r).exp() * pairs.array();
  (*slope)[n] += (decay * (1 + r + r.square() / 3)).sum() + (1 + jitter) * trace * matern;
  (*slope)[n + 1] += by_trend * trend + jitter * trace * trend;
  (*slope)[n + 2] += trace * std::exp(at.noise);
  const VectorXd common = 5.0 / 3 * decay * (1 + r);
  slope->head(n).array() += (squares_.transpose() * common).array() * inverse_squares(at).array();
  return out;
}

double GaussianProcess::fit(const Hyperparameters& from, int most_steps) {
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
  return fit.best_loss;
}

void GaussianProcess::set(const Hyperparameters& hyperparameters) {
  hyperparameters_ = hyperparameters;
  MatrixXd all = covariance(hyperparameters_, packed_distances(hyperparameters_));
  Eigen::LLT<MatrixXd> factor(all);
  for (double more = all.trace() * 1e-12; factor.info() != Eigen::Success; more *= 10) {
    all.diagonal().array() += more;
    factor.compute(all);
  }
  factor_ = factor.matrixLLT();
  weights_ = factor.solve(values_);
}

void GaussianProcess::extend(const VectorXd& point, double value) {
  const Index m = points_.rows();
  const VectorXd row = factor_.triangularView<Eigen::Lower>().solve(towards(point.transpose()).all.col(0));
  const double own = own_variance(point) + nugget(hyperparameters_);
  factor_.conservativeResize(m + 1, m + 1);
  factor_.row(m).head(m) = row.transpose();
  factor_(m, m) = std::sqrt(std::max(own - row.squaredNorm(), 1e-12 * own));
  points_.conservativeResize(m + 1, Eigen::NoChange);
  points_.row(m) = point.transpose();
  values_.conservativeResize(m + 1);
  values_[m] = value;
  weights_ = factor_.triangularView<Eigen::Lower>().solve(values_);
  factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(weights_);
}

double GaussianProcess::own_variance(const VectorXd& x) const {
  const double product = 1 + x.cwiseProduct(has_order_).squaredNorm() / static_cast<double>(x.size());
  return std::exp(hyperparameters_.matern) + std::exp(hyperparameters_.trend) * product * product;
}

GaussianProcess::Covariance GaussianProcess::towards(const MatrixXd& at) const {
  const Index n = points_.cols();
  const VectorXd inverse = inverse_squares(hyperparameters_);
  Eigen::ArrayXXd r = Eigen::ArrayXXd::Zero(points_.rows(), at.rows());
  for (Index i = 0; i < n; ++i) {
    const bool has_order = ordered_[static_cast<std::size_t>(i)] != 0;
    for (Index k = 0; k < at.rows(); ++k) {
      const auto d = points_.col(i).array() - at(k, i);
      if (has_order) r.col(k) += d.square() * inverse[i];
      else r.col(k) += (d != 0).cast<double>() * inverse[i];
    }
  }
  r = (5 * r).sqrt();
  Covariance out;
  out.products = (points_ * has_order_.asDiagonal() * at.transpose() / static_cast<double>(n)).array() + 1;
  const Eigen::ArrayXXd decay = std::exp(hyperparameters_.matern) * (-r).exp();
  out.all = decay * (1 + r + r.square() / 3) + std::exp(hyperparameters_.trend) * out.products.array().square();
  out.steepness = -5.0 / 3 * decay * (1 + r);
  return out;
}

Posterior GaussianProcess::posterior(const VectorXd& x, bool slopes) const {
  const auto to = towards(x.transpose());
  const VectorXd half = factor_.triangularView<Eigen::Lower>().solve(to.all.col(0));
  const double own = own_variance(x), trend = std::exp(hyperparameters_.trend);
  Posterior out;
  out.mean = to.all.col(0).dot(weights_);
  out.variance = std::max(own - half.squaredNorm(), least_variance * own);
  if (!slopes) return out;
  // The slope of covariance a by parameter i is steepness_a (x_i - a_i) / length_i² + 2 trend product_a a_i / n.
  const auto by = [&](const VectorXd& weights) -> VectorXd {
    const VectorXd s = to.steepness.col(0).cwiseProduct(weights), p = to.products.col(0).cwiseProduct(weights);
    return has_order_.cwiseProduct(
        (x * s.sum() - points_.transpose() * s).cwiseProduct(inverse_squares(hyperparameters_)) +
        points_.transpose() * p * (2 * trend / static_cast<double>(x.size())));
  };
  const double product = 1 + x.cwiseProduct(has_order_).squaredNorm() / static_cast<double>(x.size());
  out.mean_slope = by(weights_);
  out.variance_slope = has_order_.cwiseProduct(x) * (4 * trend * product / static_cast<double>(x.size())) -
                       2 * by(factor_.transpose().triangularView<Eigen::Upper>().solve(half));
  return out;
}

Eigen::MatrixX2d GaussianProcess::posteriors(const MatrixXd& at) const {
  const auto to = towards(at);
  const MatrixXd half = factor_.triangularView<Eigen::Lower>().solve(to.all);
  Eigen::MatrixX2d out(at.rows(), 2);
  out.col(0) = to.all.transpose() * weights_;
  for (Index k = 0; k < at.rows(); ++k) {
    const double own = own_variance(at.row(k).transpose());
    out(k, 1) = std::max(own - half.col(k).squaredNorm(), least_variance * own);
  }
  return out;
}

}  // namespace culmen::bayes
