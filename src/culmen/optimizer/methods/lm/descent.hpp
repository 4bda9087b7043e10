// One descent of Levenberg and Marquardt, from one start to one minimum.
#pragma once
#include <Eigen/Dense>
#include <memory>
#include <vector>

#include "culmen/evaluation/loss.hpp"
#include "culmen/optimizer/methods/lm/coordinates.hpp"
#include "culmen/optimizer/parts/differences.hpp"
#include "culmen/optimizer/parts/linear_model.hpp"

namespace culmen::lm {

/// Proposes points and receives their replies, in turns. The damping follows the gain as in Nielsen, "Damping parameter
/// in Marquardt's method" (IMM-REP-1999-05). Derivatives are forward differences until the sum of squares hardly falls
/// any more; then they are more accurate ones. A step whose evaluation fails is not taken.
class Descent {
 public:
  /// start.ok() must hold; z: its place. noise, widens: as in Differences. loss: gives the sums of the replies.
  Descent(std::shared_ptr<const Coordinates> coordinates, Eigen::VectorXd z, Reply start, double noise, Loss loss,
          bool widens);
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;

  /// Appends the points to evaluate; at least one unless rests() or over().
  void propose(std::vector<Eigen::VectorXd>& points);
  /// Receives the replies for these points, in the same order.
  void digest(const std::vector<Reply>& replies);

  /// True if it is near a minimum. It finds all digits of the minimum only after refine().
  bool rests() const { return phase_ == Phase::rest; }
  void refine();
  bool over() const { return phase_ == Phase::over; }
  /// False if it gave up or was not refined.
  bool exact() const { return over() && steps_ < most_steps; }

  const Eigen::VectorXd& z() const { return z_; }
  double sum() const { return here_.sum; }
  const Coordinates& coordinates() const { return *coordinates_; }

 private:
  static constexpr int most_steps = 1000;
  enum class Phase : unsigned char { slopes, trial, rest, over };
  void learn_slopes(const std::vector<Reply>& replies);
  void judge(const Reply& reply);
  void accept(const Reply& reply);
  void plan_trial();
  void end_of_accuracy();
  bool slow();

  std::shared_ptr<const Coordinates> coordinates_;
  Differences differences_;
  Loss loss_;
  Eigen::VectorXd z_;
  Reply here_;
  Phase phase_ = Phase::slopes;
  Accuracy accuracy_ = Accuracy::forward;
  std::unique_ptr<LinearModel> model_;
  Eigen::VectorXd trial_;
  double damping_ = 1e-2, growth_ = 2;
  double promised_ = 0;      // reduction that the model predicts for the trial
  double newton_share_ = 1;  // of the sum: the share that the undamped step would remove, by the model
  double last_newton_share_ = 1;
  int steps_ = 0;  // steps taken at all accuracies
  int repeats_ = 0;
  int marked_step_ = 0;
  double marked_sum_ = 0;
};

}  // namespace culmen::lm
