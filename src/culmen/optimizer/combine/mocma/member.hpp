// One member of a population of searches.
#pragma once
#include <Eigen/Dense>
#include <cstdint>
#include <memory>

#include "culmen/evaluation/outcome.hpp"

namespace culmen::mocma {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// A place, and the state of a (1+1)-CMA-ES there (Igel, Hansen and Roth, Evol. Comput. 15 (2007) 1). `place` is a unit
/// vector of all parameters; the steps are those of the real parameters only.
struct Member {
  Vector place;
  Outcome outcome = {};  ///< as rankable() gives it
  std::uint64_t id = 0;  ///< 0: none yet
  double sigma = 0, success_rate = 0;
  Vector path = {};                               ///< of successful steps, in units of sigma
  std::shared_ptr<const Matrix> factor = {};      ///< lower triangular, of the covariance; none: the unit matrix
  std::shared_ptr<const Vector> deviations = {};  ///< used instead of `factor` if there are too many parameters
};

/// The success rule, the learning rates for n real parameters and the update of the triangular factor, all as in Igel,
/// Hansen and Roth. For more than `most_correlated` parameters it learns only the deviations, so that memory grows
/// linearly.
class Strategy {
 public:
  static constexpr std::size_t most_correlated = 100;

  explicit Strategy(std::size_t n);
  /// A member without a parent.
  Member founder(Vector place, double sigma) const;
  /// The step that standard normal numbers give, in units of sigma.
  Vector step(const Member& member, const Vector& normal) const;
  void adapt(Member& member, bool success) const;
  /// `step` led to this member, in units of its parent's sigma.
  void learn(Member& member, const Vector& step) const;

 private:
  void learn_factor(Member& member, double kept) const;
  void learn_deviations(Member& member, double kept) const;

  const Eigen::Index n_;
  const double damping_, path_rate_, covariance_rate_;
};

}  // namespace culmen::mocma
