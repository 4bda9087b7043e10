// What the last results say of a valley, as one polynomial.
#pragma once
#include <Eigen/Dense>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "culmen/optimizer/methods/cmaes/distribution.hpp"

namespace culmen::cmaes {

/// A full polynomial of degree two through the last results, whatever distribution they were drawn from; by least
/// squares in the coordinates in which a distribution is standard normal, near and good points counting more. It stands
/// in for values as in Hansen, "A global surrogate assisted CMA-ES" (GECCO 2019).
class Quadratic {
 public:
  struct Result {
    Eigen::VectorXd point;
    double value;
  };

  /// What is to be fitted: a quarter of a millisecond for 10 parameters, five for 20.
  struct Fit {
    Density frame;
    std::vector<Result> results;
    /// Of all polynomials that fit best the one with the smallest coefficients, of columns of length 1; empty: none.
    Eigen::VectorXd coefficients() const;
  };

  /// n: parameters.
  explicit Quadratic(std::size_t n);
  /// A finite value. The last results are kept, two for each coefficient.
  void add(const Eigen::VectorXd& point, double value);
  /// Of what was added so far; none where there is less that is new than three quarters as many results as
  /// coefficients.
  std::optional<Fit> due(const Density& frame);
  /// From here on it is this polynomial. It is not fitted() where results were too few or all equal.
  void adopt(const Density& frame, Eigen::VectorXd coefficients);
  bool fitted() const { return fitted_; }
  /// The polynomial at a point, but for a constant. It must be fitted().
  double operator()(const Eigen::VectorXd& point) const;

 private:
  std::size_t coefficients_;
  std::deque<Result> results_;
  std::size_t new_ = 0;  // since the last fit
  Density frame_;
  Eigen::VectorXd solution_;
  bool fitted_ = false;
};

/// Kendall's rank correlation of pairs (foretold, seen); 0 where there are fewer than two.
double rank_correlation(const std::vector<std::pair<double, double>>& pairs);

}  // namespace culmen::cmaes
