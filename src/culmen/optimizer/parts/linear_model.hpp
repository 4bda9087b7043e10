// One step of Levenberg and Marquardt inside a box.
#pragma once
#include <Eigen/Dense>

namespace culmen {

/// The linear model r + J d of the residuals around a point. It holds the factors of a QR decomposition of J, whose
/// columns are scaled to length 1 (Moré, "The Levenberg-Marquardt algorithm: implementation and theory", 1978).
class LinearModel {
 public:
  LinearModel(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residuals);

  /// argmin |r + J d|² + damping |D d|² over lower ≤ d ≤ upper, with lower ≤ 0 ≤ upper. D holds the columns' lengths.
  /// This is the constrained subproblem of Kanzow, Yamashita and Fukushima (J. Comput. Appl. Math. 172 (2004) 375),
  /// solved by the active sets of Stark and Parker (Comput. Statist. 10 (1995) 129). Active bounds are met exactly.
  Eigen::VectorXd step(double damping, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) const;
  /// |r|² - |r + J d|².
  double reduction(const Eigen::VectorXd& d) const;
  /// False if a number overflowed.
  bool healthy() const;

 private:
  Eigen::VectorXd solve(const Eigen::MatrixXd& a, const Eigen::VectorXd& b, const std::vector<char>& fixed,
                        const Eigen::VectorXd& s) const;

  Eigen::VectorXd scale_;   // D
  Eigen::MatrixXd factor_;  // R of the scaled Jacobian
  Eigen::VectorXd target_;  // Qᵀ r
};

}  // namespace culmen
