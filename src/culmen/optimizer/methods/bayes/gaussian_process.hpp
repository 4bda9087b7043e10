// Gaussian process regression (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006).
#pragma once
#include <Eigen/Dense>
#include <vector>

namespace culmen::bayes {

/// Logarithms of the parts of the covariance a²·Matérn5/2(r) + b²·(1 + x·x'/n)² + noise. r² is the sum of the squared
/// differences of all parameters, each divided by its squared length; unequal choices differ by 1. The second part is a
/// full quadratic trend with a Gaussian prior. It leaves out unordered parameters.
struct Hyperparameters {
  Eigen::VectorXd lengths;
  double matern = 0, trend = 0, noise = 0;

  static Hyperparameters standard(std::size_t n);
  Eigen::VectorXd packed() const;
  static Hyperparameters unpacked(const Eigen::VectorXd& packed);
};

struct Posterior {
  double mean = 0, variance = 0;
  Eigen::VectorXd mean_slope, variance_slope;  ///< 0 for unordered parameters
};

/// Fits points (rows) and their values, which should have a mean near 0 and a deviation near 1. For m points and n
/// parameters the cost of loss() grows as m³ + n m², set() as m³, a posterior as m² + n m, extend() as m².
class GaussianProcess {
 public:
  /// ordered: one flag per parameter.
  GaussianProcess(Eigen::MatrixXd points, Eigen::VectorXd values, std::vector<char> ordered);

  /// Finds and sets the hyperparameters of greatest posterior density, starting from `from` (L-BFGS of NLopt, at most
  /// `most_steps` evaluations of the density). Returns the loss there.
  double fit(const Hyperparameters& from, int most_steps);
  void set(const Hyperparameters& hyperparameters);
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  /// Minus the logarithm of marginal likelihood times prior, up to a constant, and its gradient.
  double loss(const Hyperparameters& at, Eigen::VectorXd* slope) const;
  /// Adds one point and keeps the hyperparameters. Only after set() or fit(); these and loss() must not follow.
  void extend(const Eigen::VectorXd& point, double value);

  const Eigen::MatrixXd& points() const { return points_; }
  /// The posterior of the function without noise. Only after set() or fit(). `slopes`: whether they are computed.
  Posterior posterior(const Eigen::VectorXd& x, bool slopes) const;
  /// The same for many points (rows). Each row of the result is (mean, variance).
  Eigen::MatrixX2d posteriors(const Eigen::MatrixXd& at) const;

 private:
  struct Covariance;
  Eigen::VectorXd inverse_squares(const Hyperparameters& at) const;
  Eigen::VectorXd packed_distances(const Hyperparameters& at) const;
  Eigen::MatrixXd covariance(const Hyperparameters& at, const Eigen::VectorXd& distances) const;
  Covariance towards(const Eigen::MatrixXd& at) const;
  double own_variance(const Eigen::VectorXd& x) const;
  double nugget(const Hyperparameters& at) const;

  Eigen::MatrixXd points_;
  Eigen::VectorXd values_;
  std::vector<char> ordered_;
  Eigen::VectorXd has_order_;  // 1 or 0
  Eigen::MatrixXd
      squares_;  // of differences: one row per pair of points, in the order of the columns below the diagonal
  Eigen::MatrixXd products_;  // 1 + x·x'/n
  Hyperparameters hyperparameters_;
  Eigen::MatrixXd factor_;  // lower triangle
  Eigen::VectorXd weights_;
};

}  // namespace culmen::bayes
