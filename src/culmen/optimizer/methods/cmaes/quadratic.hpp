// A polynomial through the last results, which describes a valley.
#pragma once
#include <Eigen/Dense>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "culmen/optimizer/methods/cmaes/distribution.hpp"

namespace culmen::cmaes {

/// A full polynomial of degree two, fitted to the last results by least squares, whatever distribution they were drawn
/// from. It uses the coordinates in which a distribution is standard normal. Near and good points have more weight. It
/// replaces values as in Hansen, "A global surrogate assisted CMA-ES" (GECCO 2019).
class Quadratic {
 public:
  struct Result {
    Eigen::VectorXd point;
    double value;
  };

  /// The data of a fit, which takes a quarter of a millisecond for 10 parameters and five for 20.
  struct Fit {
    Density frame;
    std::vector<Result> results;
    /// The best fit with the smallest coefficients (for columns of length 1); empty: there is none.
    Eigen::VectorXd coefficients() const;
  };

  /// n: parameters.
  explicit Quadratic(std::size_t n);
  /// The value must be finite. Two results are kept for each coefficient, the last ones.
  void add(const Eigen::VectorXd& point, double value);
  /// A fit of the results so far. None if fewer new results have come than three quarters of the number of
  /// coefficients.
  std::optional<Fit> due(const Density& frame);
  /// From here on it is this polynomial. It is not fitted() where results were too few or all equal.
  void adopt(const Density& frame, Eigen::VectorXd coefficients);
  bool fitted() const { return fitted_; }
  /// The polynomial at a point, up to a constant. It must be fitted().
  double operator()(const Eigen::VectorXd& point) const;

 private:
  std::size_t coefficients_;
  std::deque<Result> results_;
  std::size_t new_ = 0;  // since the last fit
  Density frame_;
  Eigen::VectorXd solution_;
  bool fitted_ = false;
};

/// Kendall's rank correlation of pairs (predicted, seen); 0 for fewer than two pairs.
double rank_correlation(const std::vector<std::pair<double, double>>& pairs);

}  // namespace culmen::cmaes
