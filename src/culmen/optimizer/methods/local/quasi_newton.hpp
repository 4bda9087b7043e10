// Where to go from a point of the unit cube whose gradient is known.
#pragma once
#include <Eigen/Dense>

namespace culmen::local {

/// The Hessian matrix, learned from gradients.
class QuasiNewton {
 public:
  /// The matrix is diagonal, positive.
  void begin(Eigen::VectorXd diagonal);
  /// Gradients differ by `change` over this step; damped as by Powell (Nocedal and Wright, procedure 18.2).
  void learn(const Eigen::VectorXd& step, const Eigen::VectorXd& change);
  /// argmin g·d + d·H·d / 2 with x + d in the unit cube; empty where numbers overflow.
  Eigen::VectorXd step(const Eigen::VectorXd& x, const Eigen::VectorXd& gradient) const;
  double reduction(const Eigen::VectorXd& gradient, const Eigen::VectorXd& d) const;
  Eigen::VectorXd diagonal() const { return matrix_.diagonal(); }

 private:
  Eigen::MatrixXd matrix_;
};

/// Components that would leave the unit cube at once become 0.
Eigen::VectorXd inwards(const Eigen::VectorXd& x, Eigen::VectorXd direction);
/// How far the direction leads until the first bound.
double step_to_bound(const Eigen::VectorXd& x, const Eigen::VectorXd& direction);

}  // namespace culmen::local
