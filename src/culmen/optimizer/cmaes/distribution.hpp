// The multivariate normal distribution of one CMA-ES run, and how it learns.
#pragma once
#include <Eigen/Dense>
#include <span>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/cmaes/constants.hpp"

namespace culmen::cmaes {

/// N(mean, (sigma A)² C) in unbounded coordinates; A is diagonal and differs from 1 only where a floor holds a
/// coordinate up. Update: Hansen's tutorial (arXiv:1604.00772v2), section 6, with active covariance; floors as minstd
/// in Marty et al., "LB+IC-CMA-ES" (PPSN 2024): a coordinate at its floor does not take part in the step-size path.
class Distribution {
 public:
  /// floors: least standard deviation per coordinate, 0 for none.
  Distribution(const Constants& constants, Eigen::VectorXd mean, double sigma, Eigen::VectorXd floors);

  /// Draws member k of the present generation; valid until the next call of either function.
  const Eigen::VectorXd& sample(std::size_t k, Random& random);
  /// One generation's step. weights[k] is that of member k, by its rank; 0 leaves a member out. The positive ones sum
  /// to at most 1.
  void update(std::span<const double> weights);

  const Constants& constants() const { return constants_; }
  const Eigen::VectorXd& mean() const { return mean_; }
  double sigma() const { return sigma_; }
  double deviation(std::size_t i) const;  ///< of coordinate i
  double path(std::size_t i) const;       ///< of coordinate i: sigma A pc
  bool at_floor(std::size_t i) const { return at_floor_[i]; }
  Eigen::VectorXd axis(std::size_t i) const;  ///< principal axis i with its length, in ascending order of length
  double axis_ratio() const { return axes_[axes_.size() - 1] / axes_[0]; }
  std::size_t generation() const { return generation_; }  ///< updates so far
  bool healthy() const {
    return healthy_;
  }  ///< false once the covariance is no longer positive definite or a number overflowed

 private:
  void learn_covariance(std::span<const double> weights, bool stalled);
  void learn_sigma(double path_ratio);
  double free_path_ratio() const;
  void hold_floors();
  void decompose();

  Constants constants_;
  Eigen::VectorXd mean_;
  double sigma_;
  Eigen::VectorXd floors_;
  Eigen::VectorXd scaling_;  // A
  std::vector<char> at_floor_;
  Eigen::MatrixXd covariance_;  // C; the lower triangle counts
  Eigen::MatrixXd basis_;       // B: C = B diag(axes)² Bᵀ as of the last decomposition
  Eigen::VectorXd axes_;
  Eigen::MatrixXd transform_;  // B diag(axes)
  Eigen::VectorXd sigma_path_, covariance_path_;
  Eigen::MatrixXd steps_;          // column k: (x_k - mean) / (sigma A)
  Eigen::VectorXd squared_norms_;  // of the standard normal vectors behind them
  Eigen::VectorXd normal_, point_;
  std::size_t generation_ = 0, decomposed_ = 0;
  bool healthy_ = true;
};

}  // namespace culmen::cmaes
