// The gradient of one value by finite differences: the points to evaluate in parallel, and the result.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "culmen/optimizer/parts/differences.hpp"

namespace culmen::local {

/// Uses Differences in the unit cube. A parameter's size is the change that changes the value by its own magnitude:
/// √(magnitude / curvature). A forward step is then 2 √(rounding / curvature) as in Gill, Murray and Wright, "Practical
/// Optimization" (1981), section 8.6. As long as no curvature is known, the size is that of the box. Forward
/// differences (n points) are for the descent, central ones (2n) for its end.
class Slopes {
 public:
  Slopes(Eigen::Index parameters, double noise);

  /// Appends the points that the gradient at x needs.
  void propose(const Eigen::VectorXd& x, Accuracy accuracy, std::vector<Eigen::VectorXd>& points);
  /// The gradient at the last proposed x, whose value is `value`. The values at its points begin at values[first]. A
  /// component is 0 if all its points failed.
  Eigen::VectorXd gradient(double value, const std::vector<double>& values, std::size_t first);
  /// The second derivatives that central differences gave with the last gradient; NaN for unknown ones.
  const Eigen::VectorXd& curvatures() const { return curvatures_; }
  /// Sets the sizes. rounding: absolute error of a value; curvature: second derivatives or their magnitudes.
  void fit(double rounding, const Eigen::VectorXd& curvature);

 private:
  Differences differences_;
  double noise_;
  Eigen::VectorXd sizes_, x_, curvatures_;
  std::vector<Eigen::VectorXd> points_;  // of the last gradient
};

/// Absolute error of a value: a share of the value or, near zero, of the first value of the search.
double rounding_of(double noise, double value, double first);

/// x in the unit cube, exactly.
inline Eigen::VectorXd into_cube(const Eigen::VectorXd& x) { return x.cwiseMax(0).cwiseMin(1); }

}  // namespace culmen::local
