// One member of a population of searches.
#pragma once
#include <Eigen/Dense>
#include <cstdint>
#include <memory>

#include "culmen/evaluation/outcome.hpp"

namespace culmen::mocma {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// A place and how a (1+1)-CMA-ES goes on from there (Igel, Hansen and Roth, Evol. Comput. 15 (2007) 1). `place` is a
/// unit vector of all parameters; steps and what is learnt of them are of the real ones.
struct Member {
  Vector place;
  Outcome outcome = {};  ///< as of rankable()
  std::uint64_t id = 0;  ///< 0: none yet
  double sigma = 0, success_rate = 0;
  Vector path = {};                               ///< of successful steps, in units of sigma
  std::shared_ptr<const Matrix> factor = {};      ///< lower triangular, of the covariance; none: the unit matrix
  std::shared_ptr<const Vector> deviations = {};  ///< instead, of each parameter, where there are too many
};

/// The success rule and the learning rates for n real parameters, as there, and the update of the triangular factor.
/// Of more than `most_correlated` parameters it learns the deviations alone, so that memory stays in proportion.
class Strategy {
 public:
  static constexpr std::size_t most_correlated = 100;

  explicit Strategy(std::size_t n);
  /// A member that has no parent.
  Member founder(Vector place, double sigma) const;
  /// What a step is that normal numbers make, in units of sigma.
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
