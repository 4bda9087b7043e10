#include "culmen/optimizer/methods/cmaes/distribution.hpp"

#include <algorithm>
#include <cmath>

#include "culmen/base/decompositions.hpp"

namespace culmen::cmaes {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
namespace {
constexpr int redraws = 2;
constexpr double reach = 2;  // of the mean beyond a bound, in standard deviations: 1 in 40 members lies inside
constexpr double most_growth_log = 0.3;  // of a coordinate's scaling, in one update
}  // namespace

VectorXd Density::whitened(const VectorXd& step) const {
  VectorXd out = step.cwiseQuotient(lengths);
  if (whitening.size() > 0) return whitening * out;
  if (limited) limited->whiten(out);
  return out;
}

Distribution::Distribution(const Constants& constants, VectorXd mean, double sigma, Margin margin,
                           Correlations correlations)
    : constants_(constants),
      correlations_(correlations),
      mean_(std::move(mean)),
      sigma_(sigma),
      margin_(std::move(margin)) {
  const auto n = static_cast<Index>(constants_.n), lambda = static_cast<Index>(constants_.population);
  scaling_ = VectorXd::Ones(n);
  held_.assign(constants_.n, 0);
  if (full()) {
    covariance_ = basis_ = root_ = MatrixXd::Identity(n, n);
    axes_ = VectorXd::Ones(n);
  }
  if (correlations == Correlations::limited) limited_.emplace(constants_, LimitedMemory::default_count(constants_.n));
  sigma_path_ = covariance_path_ = VectorXd::Zero(n);
  normals_ = steps_ = MatrixXd::Zero(n, lambda);
  squared_norms_ = VectorXd::Zero(lambda);
  drawn_.assign(constants_.population, 0);
  point_ = VectorXd::Zero(n);
  weighted_ = MatrixXd::Zero(n, lambda);
  hold_margin();
}

void Distribution::confine(VectorXd lower, VectorXd upper) {
  lower_ = std::move(lower);
  upper_ = std::move(upper);
}

const VectorXd& Distribution::sample(std::size_t k, Random& random) {
  const auto column = static_cast<Index>(k);
  if (!drawn_[k]) draw(drawn_ahead_ ? column : 0, drawn_ahead_ ? 1 : normals_.cols(), random);
  drawn_[k] = 0;
  point_ = mean_ + sigma_ * scaling_.cwiseProduct(steps_.col(column));
  return point_;
}

/// At the start of a generation draws all of it, so that the product with the root is a matrix product.
void Distribution::draw(Index first, Index count, Random& random) {
  auto normals = normals_.middleCols(first, count);
  for (Index k = 0; k < count; ++k) {
    for (double& z : normals.col(k)) z = random.normal();
  }
  correlate(first, count);
  for (Index k = first; k < first + count && lower_.size() > 0; ++k) draw_again(k, random);
  squared_norms_.segment(first, count) = normals.colwise().squaredNorm();
  std::fill_n(drawn_.begin() + first, count, 1);
  drawn_ahead_ = true;
}

void Distribution::correlate(Index first, Index count) {
  auto steps = steps_.middleCols(first, count);
  if (full()) steps.noalias() = root_ * normals_.middleCols(first, count);
  else steps = normals_.middleCols(first, count);
  if (limited_) limited_->transform(steps);
}

/// Keeps the draw that is nearest to the box, because values of repaired points mislead the covariance. More draws
/// would keep the search away from optima in corners.
void Distribution::draw_again(Index k, Random& random) {
  double nearest = distance_outside(steps_.col(k));
  for (int turn = 0; turn < redraws && nearest > 0; ++turn) {
    const VectorXd normal = normals_.col(k), step = steps_.col(k);
    for (double& z : normals_.col(k)) z = random.normal();
    correlate(k, 1);
    const double distance = distance_outside(steps_.col(k));
    if (distance < nearest) {
      nearest = distance;
    } else {
      normals_.col(k) = normal;
      steps_.col(k) = step;
    }
  }
}

/// Squared, in units of sigma D. A bound does not count if the mean already lies beyond it: the optimum is expected
/// there.
double Distribution::distance_outside(const VectorXd& step) const {
  double sum = 0;
  for (Index i = 0; i < step.size(); ++i) {
    const double length = sigma_ * scaling_[i], x = mean_[i] + length * step[i];
    double beyond = 0;
    if (x < lower_[i] && mean_[i] >= lower_[i]) beyond = lower_[i] - x;
    if (x > upper_[i] && mean_[i] <= upper_[i]) beyond = x - upper_[i];
    sum += beyond * beyond / (length * length);
  }
  return sum;
}

/// Returns the step of the mean, divided by sigma D.
VectorXd Distribution::move_mean(const VectorXd& weights) {
  VectorXd shift = steps_ * weights.cwiseMax(0.0);
  for (Index i = 0; i < mean_.size(); ++i) {
    const double to = mean_[i] + sigma_ * scaling_[i] * shift[i];
    const double kept = lower_.size() > 0 ? mean_within(i, to) : to;
    if (kept != to) shift[i] = (kept - mean_[i]) / (sigma_ * scaling_[i]);
    mean_[i] = kept;
  }
  return shift;
}

double Distribution::mean_within(Index i, double to) const {
  const auto coordinate = static_cast<std::size_t>(i);
  if (margin_.discrete(coordinate)) return margin_.confined(coordinate, to);
  const double beyond = reach * deviation(coordinate);
  return std::clamp(to, lower_[i] - beyond, upper_[i] + beyond);
}

/// The shift as one of standard normal vectors.
VectorXd Distribution::isotropic(const VectorXd& weights, const VectorXd& shift) const {
  if (full()) return whitened(shift);
  const VectorXd free = steps_ * weights.cwiseMax(0.0);
  const VectorXd kept = (free.array() == shift.array()).select(VectorXd::Ones(shift.size()), 0.0);
  return (normals_ * weights.cwiseMax(0.0)).cwiseProduct(kept);
}

VectorXd Distribution::whitened(const VectorXd& step) const {
  if (!full()) return step;
  return basis_ * (basis_.transpose() * step).cwiseQuotient(axes_);
}

void Distribution::place(std::size_t k, const VectorXd& x) {
  const auto column = static_cast<Index>(k);
  steps_.col(column) = (x - mean_).cwiseQuotient(sigma_ * scaling_);
  whiten(column);
  const double n = static_cast<double>(constants_.n), longest = std::sqrt(n) + 2 * n / (n + 2);
  if (const double length = std::sqrt(squared_norms_[column]); length > longest) {
    steps_.col(column) *= longest / length;
    whiten(column);
  }
  drawn_[k] = 0;
}

/// Call this after the step of member k has changed.
void Distribution::whiten(Index k) {
  normals_.col(k) = whitened(steps_.col(k));
  if (limited_) limited_->whiten(normals_.col(k));
  squared_norms_[k] = normals_.col(k).squaredNorm();
}

Density Distribution::density() const {
  const VectorXd lengths = sigma_ * scaling_;
  const double log_lengths = lengths.array().log().sum();
  if (!full()) return {mean_, lengths, {}, limited_, log_lengths + (limited_ ? limited_->log_volume() : 0)};
  return {mean_,
          lengths,
          axes_.cwiseInverse().asDiagonal() * basis_.transpose(),
          {},
          axes_.array().log().sum() + log_lengths};
}

void Distribution::update(std::span<const double> weights, double mueff) {
  const VectorXd w = Eigen::Map<const VectorXd>(weights.data(), static_cast<Index>(weights.size()));
  center(w);
  const VectorXd shift = move_mean(w);
  const auto& c = constants_;
  const VectorXd normal = isotropic(w, shift);
  sigma_path_ = (1 - c.cs) * sigma_path_ + std::sqrt(c.cs * (2 - c.cs) * mueff) * normal;
  ++generation_;

  const double ratio = free_path_ratio();
  const double warm_up = 1 - std::pow(1 - c.cs, 2.0 * static_cast<double>(generation_));
  const bool stalled = ratio * ratio / warm_up >= 2 + 4 / (static_cast<double>(c.n) + 1);
  covariance_path_ *= 1 - c.cc;
  if (!stalled) covariance_path_ += std::sqrt(c.cc * (2 - c.cc) * mueff) * scaling_.cwiseProduct(shift);
  const VectorXd scaled =
      (w.array() < 0).select(w.array() * static_cast<double>(c.n) / squared_norms_.array(), w.array());
  if (full()) learn_covariance(scaled, stalled);
  if (limited_) limited_->learn(normal, mueff);
  learn_scaling(scaled, stalled);
  learn_sigma(ratio);
  hold_margin();
  if (full() && generation_ >= decomposed_ + c.eigen_gap) decompose();
  healthy_ = healthy_ && std::isfinite(sigma_) && mean_.allFinite();
  std::ranges::fill(drawn_, 0);
  drawn_ahead_ = false;
}

/// Length of the step-size path divided by its expectation under neutral selection, without the coordinates that the
/// margin holds.
double Distribution::free_path_ratio() const {
  double square = 0;
  std::size_t free = 0;
  for (std::size_t i = 0; i < constants_.n; ++i) {
    if (held_[i]) continue;
    square += sigma_path_[static_cast<Index>(i)] * sigma_path_[static_cast<Index>(i)];
    ++free;
  }
  return free == 0 ? 1 : std::sqrt(square) / expected_norm(free);
}

void Distribution::learn_covariance(const VectorXd& weights, bool stalled) {
  const auto& c = constants_;
  const double n = static_cast<double>(c.n);
  double sum = 0;
  for (Index k = 0; k < weights.size(); ++k) sum += weights[k] < 0 ? weights[k] * squared_norms_[k] / n : weights[k];
  const double lost = stalled ? c.c1 * c.cc * (2 - c.cc) : 0;
  covariance_.triangularView<Eigen::Lower>() *= 1 + lost - c.c1 - c.cmu * sum;
  covariance_.selfadjointView<Eigen::Lower>().rankUpdate(covariance_path_.cwiseQuotient(scaling_), c.c1);
  weighted_.noalias() = steps_ * (c.cmu * weights).asDiagonal();
  covariance_.triangularView<Eigen::Lower>() += weighted_ * steps_.transpose();
}

/// The stronger the correlations, the slower it learns.
void Distribution::learn_scaling(const VectorXd& weights, bool stalled) {
  const auto& c = constants_;
  const double damping = std::max(1.0, (limited_ ? limited_->stretch() : axis_ratio()) - 1);
  const VectorXd path = whitened(covariance_path_.cwiseQuotient(scaling_));
  const double kept = stalled ? 1 - c.cc * (2 - c.cc) : 1;  // of the path's variance; roughly
  weighted_ = normals_.array().square();
  VectorXd change = c.cmu_scaling * (weighted_ * weights - VectorXd::Constant(mean_.size(), weights.sum()));
  change += c.c1_scaling * (path.array().square() - kept).matrix();
  scaling_ = scaling_.array() * (change.array() / (2 * damping)).min(most_growth_log).exp();
}

void Distribution::learn_sigma(double path_ratio) {
  sigma_ *= std::exp(std::min(1.0, constants_.cs / constants_.damps * (path_ratio - 1)));
}

void Distribution::hold_margin() {
  for (const auto i : margin_.coordinates()) {
    const auto k = static_cast<Index>(i);
    const double least = margin_.least_deviation(margin_.cell(i, mean_[k])), now = deviation(i);
    held_[i] = now < least;
    if (held_[i]) scaling_[k] *= least / now;
  }
}

/// Members that found a better cell lie at its edge. Without this the mean would move there and stay at edges.
void Distribution::center(const VectorXd& weights) {
  std::vector<char> moved(constants_.population, 0);
  for (const auto i : margin_.coordinates()) {
    const auto row = static_cast<Index>(i);
    const double length = sigma_ * scaling_[row], mean = mean_[row];
    const Cell own = margin_.cell(i, mean);
    for (Index k = 0; k < weights.size(); ++k) {
      const double x = mean + length * steps_(row, k);
      if (!(weights[k] > 0) || (own.holds(x) && !held_[i])) continue;
      steps_(row, k) = (margin_.cell(i, x).middle() - mean) / length;
      moved[static_cast<std::size_t>(k)] = 1;
    }
  }
  for (Index k = 0; k < weights.size(); ++k) {
    if (moved[static_cast<std::size_t>(k)]) whiten(k);
  }
}

void Distribution::decompose() {
  decomposed_ = generation_;
  const VectorXd spread = covariance_.diagonal().cwiseSqrt();
  healthy_ = spread.allFinite() && spread.minCoeff() > 0;
  if (!healthy_) return;
  scaling_ = scaling_.cwiseProduct(spread);
  const VectorXd inverse = spread.cwiseInverse();
  covariance_ = inverse.asDiagonal() * covariance_ * inverse.asDiagonal();
  const auto own = symmetric_eigen(covariance_);
  healthy_ = own.converged && own.values[0] > 0 && own.values.allFinite();
  if (!healthy_) return;
  axes_ = own.values.cwiseSqrt();
  basis_ = own.vectors;
  root_.noalias() = basis_ * axes_.asDiagonal() * basis_.transpose();
}

double Distribution::deviation(std::size_t i) const {
  const auto k = static_cast<Index>(i);
  return sigma_ * scaling_[k] * (full() ? std::sqrt(covariance_(k, k)) : 1);
}

double Distribution::path(std::size_t i) const { return sigma_ * covariance_path_[static_cast<Index>(i)]; }

VectorXd Distribution::axis(std::size_t i) const {
  const auto k = static_cast<Index>(i);
  if (!full()) return deviation(i) * VectorXd::Unit(mean_.size(), k);
  return sigma_ * axes_[k] * scaling_.cwiseProduct(basis_.col(k));
}

}  // namespace culmen::cmaes
