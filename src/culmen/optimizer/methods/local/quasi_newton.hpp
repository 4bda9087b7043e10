// Steps from a point of the unit cube whose gradient is known.
#pragma once
#include <Eigen/Dense>

namespace culmen::local {

/// The Hessian matrix, learned from gradients.
class QuasiNewton {
 public:
  /// The matrix becomes this diagonal one; it must be positive.
  void begin(Eigen::VectorXd diagonal);
  /// `change`: the difference of the gradients over this step. Damped as by Powell (Nocedal and Wright, procedure
  /// 18.2).
  /// False if the curvature along the step was hardly positive, so that the model may be wrong.
  bool learn(const Eigen::VectorXd& step, const Eigen::VectorXd& change);
  /// argmin g·d + d·H·d / 2 with x + d in the unit cube; empty if numbers overflow.
  Eigen::VectorXd step(const Eigen::VectorXd& x, const Eigen::VectorXd& gradient) const;
  double reduction(const Eigen::VectorXd& gradient, const Eigen::VectorXd& d) const;
  Eigen::VectorXd diagonal() const { return matrix_.diagonal(); }

 private:
  Eigen::MatrixXd matrix_;
};

/// The direction without components that would leave the unit cube at once; these become 0.
Eigen::VectorXd inwards(const Eigen::VectorXd& x, Eigen::VectorXd direction);
/// The step length at which the direction reaches the first bound.
double step_to_bound(const Eigen::VectorXd& x, const Eigen::VectorXd& direction);

}  // namespace culmen::local
