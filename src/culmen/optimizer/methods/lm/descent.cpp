#include "culmen/optimizer/methods/lm/descent.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::lm {
namespace {
constexpr double least_damping = 1e-14, most_damping = 1e12;
constexpr double near_share = 1e-6;       // below this, forward differences are no longer useful
constexpr double central_share = 1e-12;   // below this, central ones are not either
constexpr double least_share = 1e-22;     // nothing is left to find
constexpr double rounding_share = 1e-13;  // changes of the sum below this are rounding
constexpr int most_repeats = 5;           // of a Jacobian with shorter steps
constexpr double least_gain = 1e-4;
constexpr int patience = 25;  // steps in which the sum must fall by slow_share
constexpr double slow_share = 1e-3;
constexpr double least_curvature = 1e-2;  // of a loss, as a share of its slope: 0 and 1 need more evaluations

/// The model r + J d then has the gradient of the loss. Except where the loss is hardly convex, it also has the Hessian
/// without the second derivatives of the residuals (Triggs et al., "Bundle adjustment: a modern synthesis", 2000,
/// section 4.3).
void weigh(const Loss& loss, Eigen::MatrixXd& jacobian, Eigen::VectorXd& residuals) {
  for (Eigen::Index k = 0; k < residuals.size(); ++k) {
    const auto weight = loss.weight(residuals[k]);
    const double root = std::sqrt(std::max(weight.curvature, least_curvature * weight.slope));
    jacobian.row(k) *= root;
    residuals[k] *= root > 0 ? weight.slope / root : 0;
  }
}
}  // namespace

Descent::Descent(std::shared_ptr<const Coordinates> coordinates, Eigen::VectorXd z, Reply start, double noise,
                 Loss loss, bool widens)
    : coordinates_(std::move(coordinates)),
      differences_(coordinates_->lower(), coordinates_->upper(), noise, widens),
      loss_(loss),
      z_(std::move(z)),
      here_(std::move(start)),
      marked_sum_(here_.sum) {
  if (here_.sum == 0) phase_ = Phase::over;
}

void Descent::propose(std::vector<Eigen::VectorXd>& points) {
  if (phase_ == Phase::slopes) differences_.propose(z_, coordinates_->sizes_at(z_), accuracy_, points);
  if (phase_ == Phase::trial) points.push_back(trial_);
}

void Descent::digest(const std::vector<Reply>& replies) {
  if (phase_ == Phase::slopes) learn_slopes(replies);
  else judge(replies.front());
}

void Descent::learn_slopes(const std::vector<Reply>& replies) {
  auto jacobian = differences_.jacobian(here_.residuals, replies);
  auto residuals = here_.residuals;
  if (!loss_.linear()) weigh(loss_, jacobian, residuals);
  model_ = std::make_unique<LinearModel>(jacobian, residuals);
  if (!model_->healthy()) {
    phase_ = Phase::over;
    return;
  }
  if (differences_.has_widened()) return;
  if (!differences_.steps_fit() && repeats_++ < most_repeats) return;
  const auto newton = model_->step(least_damping, coordinates_->lower() - z_, coordinates_->upper() - z_);
  last_newton_share_ = newton_share_;
  newton_share_ = model_->reduction(newton) / here_.sum;
  if (accuracy_ == Accuracy::forward && (newton_share_ < near_share || slow())) return end_of_accuracy();
  if (accuracy_ == Accuracy::central && (newton_share_ < central_share || slow())) return end_of_accuracy();
  if (accuracy_ == Accuracy::five_point && (newton_share_ < least_share || slow())) return end_of_accuracy();
  plan_trial();
}

bool Descent::slow() {
  if (steps_ >= most_steps) return true;
  if (accuracy_ != Accuracy::forward) return false;  // the best one may take any number of steps
  if (steps_ - marked_step_ < patience) return false;
  const bool hardly = here_.sum > marked_sum_ * (1 - slow_share);
  marked_step_ = steps_;
  marked_sum_ = here_.sum;
  return hardly;
}

void Descent::plan_trial() {
  const Eigen::VectorXd down = coordinates_->lower() - z_, up = coordinates_->upper() - z_;
  const Eigen::VectorXd d = model_->step(damping_, down, up);
  promised_ = model_->reduction(d);
  trial_ = (d.array() >= up.array()).select(coordinates_->upper(), z_ + d);
  trial_ = (d.array() <= down.array()).select(coordinates_->lower(), trial_);
  if (!trial_.allFinite() || trial_ == z_ || damping_ > most_damping) return end_of_accuracy();
  phase_ = Phase::trial;
}

void Descent::judge(const Reply& reply) {
  const bool ok = reply.residuals.size() == here_.residuals.size();
  const bool in_rounding = promised_ < rounding_share * here_.sum;
  if (ok && in_rounding && reply.sum <= here_.sum * (1 + 10 * rounding_share)) {
    // The sum can no longer show progress: a step is taken as long as steps get shorter.
    const bool shorter = newton_share_ < 0.25 * last_newton_share_;
    if (reply.sum >= here_.sum && !shorter) return end_of_accuracy();
    return accept(reply);
  }
  const double gain = ok && promised_ > 0 ? (here_.sum - reply.sum) / promised_ : -1;
  if (gain > least_gain) {
    damping_ = std::max(least_damping, damping_ * std::max(0.1, 1 - std::pow(2 * gain - 1, 3)));
    growth_ = 2;
    return accept(reply);
  }
  damping_ *= ok ? growth_ : std::max(growth_, 10.0);
  growth_ *= 2;
  plan_trial();
}

void Descent::accept(const Reply& reply) {
  z_ = trial_;
  here_ = reply;
  ++steps_;
  phase_ = here_.sum == 0 ? Phase::over : Phase::slopes;
}

void Descent::end_of_accuracy() {
  if (accuracy_ == Accuracy::forward) phase_ = Phase::rest;
  else if (accuracy_ == Accuracy::five_point) phase_ = Phase::over;
  else refine();
}

void Descent::refine() {
  accuracy_ = accuracy_ == Accuracy::forward ? Accuracy::central : Accuracy::five_point;
  damping_ = std::min(damping_, 1e-4);
  growth_ = 2;
  newton_share_ = 1;
  marked_step_ = steps_;
  marked_sum_ = here_.sum;
  phase_ = Phase::slopes;
}

}  // namespace culmen::lm
