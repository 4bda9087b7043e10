// Derivatives of the residuals by finite differences: the points to evaluate, and the Jacobian from the replies.
#pragma once
#include <Eigen/Dense>
#include <vector>

namespace culmen {

/// The result of one evaluation. residuals is empty if it failed.
struct Reply {
  Eigen::VectorXd residuals;
  double sum = 0;  ///< of the squared residuals, or of their loss
  bool ok() const { return residuals.size() > 0; }
};

/// forward: one evaluation for each parameter, error of order h; central: two, h²; five_point: four, h⁴.
enum class Accuracy : unsigned char { forward, central, five_point };

/// Steps balance the formula's error against rounding: noise^(1/2), ^(1/3) and ^(1/5) of a parameter's size (Gill,
/// Murray and Wright, "Practical Optimization" (1981), section 8.6). Near a bound the formula is one-sided. If an
/// evaluation failed, the formula uses the remaining ones.
class Differences {
 public:
  /// Points stay between these bounds. widens: forward steps become longer where the residuals did not change. noise:
  /// relative error of a residual, at least a double's rounding error.
  Differences(Eigen::VectorXd lower, Eigen::VectorXd upper, double noise, bool widens);

  /// Appends the points that the Jacobian at z needs. sizes: the change of z_i that changes the residuals noticeably, >
  /// 0.
  void propose(const Eigen::VectorXd& z, const Eigen::VectorXd& sizes, Accuracy accuracy,
               std::vector<Eigen::VectorXd>& points);
  /// The Jacobian at the last proposed z, from the replies in the same order. A column is 0 if all its evaluations
  /// failed.
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& residuals, const std::vector<Reply>& replies);
  /// False if the inner and outer points of that Jacobian (five_point) show that a step was too long for its parameter.
  /// Steps are shorter from then on.
  bool steps_fit() const { return steps_fit_; }
  /// A forward step of that Jacobian changed nothing. The next one there is longer.
  bool has_widened() const { return has_widened_; }

 private:
  struct Node {
    Eigen::Index parameter;
    double offset;  // the actual one, after rounding
    double weight;  // the factor of (residuals there - residuals here) in the column
  };
  void plan(Eigen::Index i, double z, double size, Accuracy accuracy);
  void compare(Eigen::Index i, const Eigen::VectorXd& inner, const Eigen::VectorXd& outer);
  void widen(Eigen::Index i, bool is_zero);

  Eigen::VectorXd lower_, upper_;
  double noise_;
  bool widens_;
  std::vector<Node> nodes_;
  std::vector<char> downwards_;  // whether the last step upwards failed
  Eigen::VectorXd shares_;       // shares of the usual steps
  Eigen::VectorXd widened_;      // factors of forward steps, where shorter ones changed nothing
  bool steps_fit_ = true, has_widened_ = false;
};

}  // namespace culmen
