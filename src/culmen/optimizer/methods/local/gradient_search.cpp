#include "culmen/optimizer/methods/local/gradient_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "culmen/optimizer/methods/local/line.hpp"
#include "culmen/optimizer/methods/local/quasi_newton.hpp"
#include "culmen/optimizer/methods/local/slopes.hpp"

namespace culmen::local {
namespace {
constexpr double furthest = 0.5;           // first step of the box at most, where curvatures are known
constexpr double least_step_share = 0.1;   // of a line's usual first step, where a bound is near
constexpr double negligible_gain = 1e-15;  // of the total gain

/// Halfway, in logarithms: a diagonal element is uncertain until the other elements are known.
Eigen::VectorXd towards_mean(const Eigen::VectorXd& diagonal) {
  const double mean = std::exp(diagonal.array().log().mean());
  return (diagonal.array() * mean).sqrt();
}

class GradientSearch final : public LocalSearch {
 public:
  GradientSearch(GradientMethod method, const Start& start, int fan)
      : LocalSearch(start),
        method_(method),
        start_(start),
        fan_(fan),
        guarded_(method == GradientMethod::bfgs && start.edition >= Edition::fourth),
        slopes_(start.x.size(), start.noise),
        z_(start.x) {
    if (start.value) over_ = !std::isfinite(here_ = first_ = *start.value);
    accuracy_ = method == GradientMethod::bfgs ? Accuracy::central : Accuracy::forward;
  }

  void propose(std::vector<Eigen::VectorXd>& points) override {
    if (line_) {
      for (const double s : line_->steps()) points.push_back(into_cube(z_ + s * direction_));
      return;
    }
    if (!std::isfinite(here_)) points.push_back(z_);
    slopes_.propose(z_, accuracy_, points);
  }

  void digest(const std::vector<double>& values) override {
    if (line_) return learn_line(values);
    const bool first = !std::isfinite(here_);
    if (first) {
      here_ = first_ = values.front();
      note(z_, here_);
      over_ = !std::isfinite(here_);
    }
    if (!over_) learn_slopes(values, first ? 1 : 0);
  }

  bool over() const override { return over_; }

 private:
  double rounding() const { return rounding_of(start_.noise, here_, first_); }

  void learn_slopes(const std::vector<double>& values, std::size_t first) {
    const Eigen::VectorXd old = gradient_;
    gradient_ = slopes_.gradient(here_, values, first);
    if (!gradient_.allFinite()) {
      over_ = true;
      return;
    }
    if (gradient_.isZero(0)) return end_of_accuracy();
    if (method_ == GradientMethod::bfgs) learn_curvature(old);
    choose_direction(old);
  }

  void learn_curvature(const Eigen::VectorXd& old) {
    if (!learned_) {
      learned_ = true;
      const Eigen::VectorXd steep = gradient_.cwiseAbs() / furthest;
      const double flat = gradient_.norm() / start_.step;
      Eigen::VectorXd c = slopes_.curvatures().cwiseAbs();
      for (Eigen::Index i = 0; i < c.size(); ++i)
        c[i] = std::isfinite(c[i]) ? std::max({c[i], steep[i], 1e-8 * flat}) : flat;
      hessian_.begin(towards_mean(c.cwiseMax(1e-12 * c.maxCoeff())));
      accuracy_ = refined_ ? Accuracy::central : Accuracy::forward;
    } else if (moved_.size() > 0) {
      trusted_ = hessian_.learn(moved_, gradient_ - old);
    }
    moved_.resize(0);
    slopes_.fit(rounding(), hessian_.diagonal());
  }

  void choose_direction(const Eigen::VectorXd& old) {
    double first_step = 1;
    limit_ = inf;
    if (method_ == GradientMethod::bfgs) {
      direction_ = hessian_.step(z_, gradient_);
      if (direction_.size() == 0) return end_of_accuracy();
      if (guarded_ && !trusted_) shorten();
      promised_ = hessian_.reduction(gradient_, direction_);
    } else {
      first_step = choose_plain(old);
      promised_ = -0.5 * first_step * gradient_.dot(direction_);
    }
    const double slope = gradient_.dot(direction_);
    if (!(promised_ > std::max(rounding(), negligible_gain * (first_ - here_))) || !(slope < 0))
      return end_of_accuracy();
    line_.emplace(here_, slope, first_step, rules());
    if (line_->over()) end_of_accuracy();
  }

  void learn_room(double moved, double beyond) {
    if (std::isfinite(beyond)) room_ = beyond;
    else room_ = room_ > moved ? std::max(room_ - moved, moved) : inf;
  }

  /// If the model's curvature was wrong along the last step, its minimum may be too far away. The first step then goes
  /// half as far as the last one that was too long.
  void shorten() {
    limit_ = room_ / direction_.norm();
    if (!(limit_ < 2)) return;
    direction_ *= limit_ / 2;
    limit_ = 2;
  }

  Line::Rules rules() const {
    // Conjugate directions need exact line searches; steepest ones do not.
    const double worth = method_ == GradientMethod::conjugate ? 1e-6 : fan_ > 1 ? 1 : 0.3;
    return {.fan = fan_, .worth = worth, .guarded = guarded_, .limit = limit_};
  }

  /// Steepest or conjugate; the first step to try.
  double choose_plain(const Eigen::VectorXd& old) {
    const Eigen::VectorXd down = inwards(z_, -gradient_);
    Eigen::VectorXd next = down;
    if (method_ == GradientMethod::conjugate && direction_.size() > 0 && old.size() > 0 && !again_) {
      const Eigen::VectorXd before = inwards(z_, -old);
      const double beta = std::max(0.0, down.dot(down - before) / before.squaredNorm());
      next = inwards(z_, down + beta * direction_);
      if (!(next.dot(gradient_) < 0) || !next.allFinite()) next = down;
    }
    again_ = false;
    direction_ = next;
    const double length = next.norm(), slope = std::abs(gradient_.dot(next));
    if (length == 0) return 0;
    // The gain that the start of the last line promised.
    const double step = last_slope_ > 0 ? last_step_ * last_slope_ / slope : start_.step / length;
    last_slope_ = slope;
    return std::clamp(step_to_bound(z_, next), step * least_step_share, step);
  }

  void learn_line(const std::vector<double>& values) {
    for (std::size_t k = 0; k < values.size(); ++k) note(into_cube(z_ + line_->steps()[k] * direction_), values[k]);
    line_->digest(values);
    if (!line_->over()) return;
    const double step = line_->best(), value = line_->best_value(), beyond = line_->too_long() - step;
    learn_room(step * direction_.norm(), beyond * direction_.norm());
    line_.reset();
    if (step == 0) return end_of_accuracy();
    const Eigen::VectorXd next = into_cube(z_ + step * direction_);
    moved_ = next - z_;
    again_ = next != z_ + step * direction_;
    last_step_ = step;
    z_ = next;
    here_ = value;
    ++steps_;
  }

  void end_of_accuracy() {
    line_.reset();
    again_ = true;
    moved_.resize(0);
    if (refined_) {
      over_ = true;
      return;
    }
    refined_ = true;
    accuracy_ = Accuracy::central;
  }

  const GradientMethod method_;
  const Start start_;
  const int fan_;
  const bool guarded_;  // false: as in editions before the fourth
  Slopes slopes_;
  Accuracy accuracy_;
  Eigen::VectorXd z_, gradient_, direction_, moved_;
  double here_ = std::numeric_limits<double>::infinity(), first_ = here_;
  QuasiNewton hessian_;
  std::optional<Line> line_;
  bool trusted_ = true;  // the last step had a positive curvature
  double room_ = inf;    // distance that lines may go beyond here: there the last ones came to a worse point
  double limit_ = inf;   // the same in steps of the current line
  double promised_ = 0, last_step_ = 0, last_slope_ = 0;
  int steps_ = 0;
  bool over_ = false, learned_ = false, refined_ = false, again_ = true;
};
}  // namespace

std::unique_ptr<LocalSearch> gradient_search(GradientMethod method, const Start& start, int fan) {
  return std::make_unique<GradientSearch>(method, start, fan);
}

}  // namespace culmen::local
