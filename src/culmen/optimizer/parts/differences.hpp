// Derivatives of the residuals by finite differences, as points to evaluate and what to make of them.
#pragma once
#include <Eigen/Dense>
#include <vector>

namespace culmen {

/// What one evaluation gave. residuals is empty where it failed.
struct Reply {
  Eigen::VectorXd residuals;
  double sum = 0;  ///< of squares
  bool ok() const { return residuals.size() > 0; }
};

/// forward: one evaluation a parameter, error of order h; central: two, h²; five_point: four, h⁴.
enum class Accuracy : unsigned char { forward, central, five_point };

/// Steps balance the formula's error against rounding: noise^(1/2), ^(1/3) and ^(1/5) of a parameter's size, as in
/// Gill, Murray and Wright, "Practical Optimization" (1981), section 8.6. Where a bound is near, the formula has one
/// side only; where an evaluation failed, what is left of it.
class Differences {
 public:
  /// Between these bounds. noise: relative error of a residual, at least a double's rounding.
  Differences(Eigen::VectorXd lower, Eigen::VectorXd upper, double noise);

  /// Appends the points that the Jacobian at z needs. sizes: over what z_i changes the residuals noticeably, above 0.
  void propose(const Eigen::VectorXd& z, const Eigen::VectorXd& sizes, Accuracy accuracy,
               std::vector<Eigen::VectorXd>& points);
  /// The Jacobian at the last proposed z, from the replies in the same order. A column is 0 where nothing came back.
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& residuals, const std::vector<Reply>& replies);
  /// False where that Jacobian's inner and outer points (five_point) say that a step was too long for its parameter;
  /// steps are shorter from now on.
  bool steps_fit() const { return steps_fit_; }

 private:
  struct Node {
    Eigen::Index parameter;
    double offset;  // as it really is after rounding
    double weight;  // of (residuals there - residuals here) in the column
  };
  void plan(Eigen::Index i, double z, double size, Accuracy accuracy);
  void compare(Eigen::Index i, const Eigen::VectorXd& inner, const Eigen::VectorXd& outer);

  Eigen::VectorXd lower_, upper_;
  double noise_;
  std::vector<Node> nodes_;
  std::vector<char> downwards_;  // where the last step upwards failed
  Eigen::VectorXd shares_;       // of the usual steps
  bool steps_fit_ = true;
};

}  // namespace culmen
