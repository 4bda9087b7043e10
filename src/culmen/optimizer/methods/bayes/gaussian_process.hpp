// Gaussian process regression (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006).
#pragma once
#include <Eigen/Dense>
#include <vector>

namespace culmen::bayes {

/// Logarithms of what the covariance a²·Matérn5/2(r) + b²·(1 + x·x'/n)² + noise consists of; r² is the sum over the
/// parameters of their squared differences over their squared lengths, the difference of unequal choices is 1. The
/// second part is a full quadratic trend with a Gaussian prior; it leaves out parameters without order.
struct Hyperparameters {
  Eigen::VectorXd lengths;
  double matern = 0, trend = 0, noise = 0;

  static Hyperparameters standard(std::size_t n);
  Eigen::VectorXd packed() const;
  static Hyperparameters unpacked(const Eigen::VectorXd& packed);
};

struct Posterior {
  double mean = 0, variance = 0;
  Eigen::VectorXd mean_slope, variance_slope;  ///< 0 where a parameter has no order
};

/// Of points (rows) and their values, which should have mean 0 and deviation 1 or so. For m points and n parameters
/// loss() costs of the order of m³ + n m², set() m³, a posterior m² + n m, extend() m².
class GaussianProcess {
 public:
  /// ordered: one flag per parameter.
  GaussianProcess(Eigen::MatrixXd points, Eigen::VectorXd values, std::vector<char> ordered);

  /// Sets the hyperparameters of greatest posterior density, searched from `from` (L-BFGS of NLopt, at most
  /// `most_steps` densities). Returns the loss there.
  double fit(const Hyperparameters& from, int most_steps);
  void set(const Hyperparameters& hyperparameters);
  const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  /// Minus the logarithm of marginal likelihood times prior, but for a constant, and its slope.
  double loss(const Hyperparameters& at, Eigen::VectorXd* slope) const;
  /// One point more, with the same hyperparameters. After set() or fit(), which like loss() must not follow.
  void extend(const Eigen::VectorXd& point, double value);

  const Eigen::MatrixXd& points() const { return points_; }
  /// Of the function without noise. After set() or fit(). `slopes`: whether they are filled in.
  Posterior posterior(const Eigen::VectorXd& x, bool slopes) const;
  /// The same of many (rows): a row (mean, variance) for each.
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
  Eigen::MatrixXd squares_;    // of differences: a row per pair of points, as the columns below the diagonal follow
  Eigen::MatrixXd products_;   // 1 + x·x'/n
  Hyperparameters hyperparameters_;
  Eigen::MatrixXd factor_;  // lower triangle
  Eigen::VectorXd weights_;
};

}  // namespace culmen::bayes
