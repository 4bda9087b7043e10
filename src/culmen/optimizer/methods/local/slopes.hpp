// The gradient of one value by finite differences, as points to evaluate at once.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "culmen/optimizer/parts/differences.hpp"

namespace culmen::local {

/// Differences of Differences in the unit cube. A parameter's size is over what it changes the value by its own
/// magnitude: √(magnitude / curvature), so that a forward step is 2 √(rounding / curvature) as in Gill, Murray and
/// Wright, "Practical Optimization" (1981), section 8.6; as long as no curvature is known, the box. Forward differences
/// (n points) are for the way, central ones (2n) for its end.
class Slopes {
 public:
  Slopes(Eigen::Index parameters, double noise);

  /// Appends the points that the gradient at x needs.
  void propose(const Eigen::VectorXd& x, Accuracy accuracy, std::vector<Eigen::VectorXd>& points);
  /// The gradient at the last proposed x, where the value is `value`, from the values at its points; they begin at
  /// values[first]. A component is 0 where all its points failed.
  Eigen::VectorXd gradient(double value, const std::vector<double>& values, std::size_t first);
  /// The second derivatives that central differences found with the last gradient; NaN where there is none.
  const Eigen::VectorXd& curvatures() const { return curvatures_; }
  /// Sizes from now on; rounding: absolute error of a value; curvature: second derivatives or their magnitude.
  void fit(double rounding, const Eigen::VectorXd& curvature);

 private:
  Differences differences_;
  double noise_;
  Eigen::VectorXd sizes_, x_, curvatures_;
  std::vector<Eigen::VectorXd> points_;  // of the last gradient
};

/// Absolute error of a value: a share of it or, near zero, of the value where the search began.
double rounding_of(double noise, double value, double first);

/// x in the unit cube, exactly.
inline Eigen::VectorXd into_cube(const Eigen::VectorXd& x) { return x.cwiseMax(0).cwiseMin(1); }

}  // namespace culmen::local
