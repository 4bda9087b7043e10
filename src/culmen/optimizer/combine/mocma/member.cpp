#include "culmen/optimizer/combine/mocma/member.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace culmen::mocma {
namespace {
constexpr double wanted_success = 2.0 / 11, success_memory = 1.0 / 12;
constexpr double high_success = 0.44;  // steps are then too short to tell a direction
constexpr double least_sigma = 1e-12, most_sigma = 1;
}  // namespace

Strategy::Strategy(std::size_t n)
    : n_(static_cast<Eigen::Index>(n)),
      damping_(1 + static_cast<double>(n) / 2),
      path_rate_(2 / (static_cast<double>(n) + 2)),
      covariance_rate_(n > most_correlated ? 2 / (3 * static_cast<double>(n) + 6)
                                           : 2 / (static_cast<double>(n * n) + 6)) {}

Member Strategy::founder(Vector place, double sigma) const {
  return {.place = std::move(place), .sigma = sigma, .success_rate = wanted_success, .path = Vector::Zero(n_)};
}

Vector Strategy::step(const Member& member, const Vector& normal) const {
  if (member.deviations) return member.deviations->cwiseProduct(normal);
  return member.factor ? Vector(member.factor->triangularView<Eigen::Lower>() * normal) : normal;
}

void Strategy::adapt(Member& member, bool success) const {
  member.success_rate += success_memory * ((success ? 1 : 0) - member.success_rate);
  const double change = (member.success_rate - wanted_success) / (1 - wanted_success) / damping_;
  member.sigma = std::clamp(member.sigma * std::exp(change), least_sigma, most_sigma);
}

void Strategy::learn(Member& member, const Vector& step) const {
  double kept = 1 - covariance_rate_;
  member.path *= 1 - path_rate_;
  const double fresh = path_rate_ * (2 - path_rate_);
  if (member.success_rate < high_success) member.path += std::sqrt(fresh) * step;
  else kept += covariance_rate_ * fresh;
  static_cast<std::size_t>(n_) > most_correlated ? learn_deviations(member, kept) : learn_factor(member, kept);
}

void Strategy::learn_deviations(Member& member, double kept) const {
  const Vector old = member.deviations ? *member.deviations : Vector::Ones(n_);
  const auto squares = kept * old.array().square() + covariance_rate_ * member.path.array().square();
  member.deviations = std::make_shared<const Vector>(squares.sqrt());
}

/// The Cholesky factor of kept C + rate p pᵀ (Golub and Van Loan, Matrix Computations, 6.5.4).
void Strategy::learn_factor(Member& member, double kept) const {
  Matrix factor = member.factor ? *member.factor : Matrix::Identity(n_, n_);
  factor *= std::sqrt(kept);
  Vector v = std::sqrt(covariance_rate_) * member.path;
  for (Eigen::Index k = 0; k < n_; ++k) {
    const double grown = std::hypot(factor(k, k), v(k));
    const double c = grown / factor(k, k), s = v(k) / factor(k, k);
    factor(k, k) = grown;
    for (Eigen::Index i = k + 1; i < n_; ++i) {
      factor(i, k) = (factor(i, k) + s * v(i)) / c;
      v(i) = c * v(i) - s * factor(i, k);
    }
  }
  member.factor = std::make_shared<const Matrix>(std::move(factor));
}

}  // namespace culmen::mocma
