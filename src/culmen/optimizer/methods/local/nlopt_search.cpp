#include "culmen/optimizer/methods/local/nlopt_search.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/methods/local/fiber.hpp"
#include "culmen/optimizer/methods/local/slopes.hpp"

namespace culmen::local {
namespace {
constexpr double negligible_nlopt_gain = 1e-14;  // of the total gain
constexpr double first_step = 0.3;               // of the box: the library's first step
constexpr double tightening = 1e-13;             // of a constraint's change over the box: rounding must not violate it
constexpr int patience = 3;                      // gradients without an improvement
constexpr int patience_at_constraints = 30;      // on its way along constraints it may pass many infeasible points
constexpr int most_repeats = 100;                // of one point, one after the other

nlopt_algorithm algorithm_of(NloptMethod method) {
  switch (method) {
    case NloptMethod::slsqp:
      return NLOPT_LD_SLSQP;
    case NloptMethod::bobyqa:
      return NLOPT_LN_BOBYQA;
    case NloptMethod::nelder_mead:
      return NLOPT_LN_NELDERMEAD;
    case NloptMethod::sbplx:
      return NLOPT_LN_SBPLX;
  }
  return NLOPT_LN_BOBYQA;
}

bool by_gradients(NloptMethod method) { return method == NloptMethod::slsqp; }

class NloptSearch final : public LocalSearch {
 public:
  NloptSearch(NloptMethod method, const Start& start)
      : LocalSearch(start), method_(method), start_(start), slopes_(start.x.size(), start.noise), at_(start.x) {
    wanted_.slopes = by_gradients(method);
    if (!start.value) return;
    learn_value(*start.value);
    if (!over_ && !wanted_.slopes) start_fiber();
  }

  void propose(std::vector<Eigen::VectorXd>& points) override {
    wanted_.value = !known();
    if (wanted_.value) points.push_back(at_);
    if (wanted_.slopes) slopes_.propose(at_, accuracy_, points);
  }

  void digest(std::vector<double> values, const std::vector<std::vector<double>>& slacks) override {
    if (!by_gradients(method_)) return LocalSearch::digest(std::move(values), slacks);
    slacks_ = &slacks;
    digest(values);
    slacks_ = nullptr;
  }

  void digest(const std::vector<double>& values) override {
    if (wanted_.value) learn_value(values.front());
    if (over_) return;
    if (wanted_.slopes) learn_slopes(values);
    if (stuck_) conclude();
    else if (fiber_) go_on();
    else start_fiber();
  }

  bool over() const override { return over_; }

 private:
  void learn_value(double value) {
    known_.x = at_;
    known_.value = value;
    known_.sloped = false;
    if (slacks_ != nullptr) known_.slacks = slacks_->front();
    if (slacks_ == nullptr || fulfilled(known_.slacks)) note(at_, value);
    const bool first = seen_.first == inf;
    if (first) seen_.first = seen_.worst = value;
    if (first) seen_.marked = start_.constraints > 0 ? inf : value;
    over_ = first && !std::isfinite(value);
    if (std::isfinite(value)) seen_.worst = std::max(seen_.worst, value);
  }

  void learn_slopes(const std::vector<double>& values) {
    known_.sloped = true;
    if (slacks_ != nullptr) learn_constraints();
    known_.gradient = slopes_.gradient(known_.value, values, wanted_.value ? 1 : 0);
    if (!std::isfinite(known_.value)) known_.gradient.setZero();
    if (accuracy_ == Accuracy::central) curvatures_ = slopes_.curvatures();
    slopes_.fit(rounding_of(start_.noise, known_.value, seen_.first), curvatures_);
    if (!refined_) accuracy_ = Accuracy::forward;
    if (const double length = known_.gradient.norm(); !scaled_ && length > 0 && std::isfinite(length)) {
      scale_ = length / first_step;
      scaled_ = true;
    }
    seen_.idle = gets_on() ? 0 : seen_.idle + 1;
    stuck_ = !known_.gradient.allFinite() || seen_.idle > (start_.constraints > 0 ? patience_at_constraints : patience);
  }

  /// The best point has improved since the last gradient, or the violation is much smaller than ever before.
  bool gets_on() {
    const bool nearer = start_.constraints > 0 && violation() < 0.5 * seen_.least_violation;
    if (nearer) seen_.least_violation = violation();
    if (start_.constraints > 0 && seen_.entry == inf) seen_.entry = value();
    const double before = std::exchange(seen_.marked, value());
    if (start_.constraints == 0) return !(before - value() <= negligible_nlopt_gain * (seen_.first - value()));
    return nearer || before - value() > negligible_nlopt_gain * (seen_.entry - value());
  }

  double violation() const {
    double sum = 0;
    for (std::size_t i = 0; i < known_.slacks.size(); ++i) sum += std::max(0.0, known_.slacks[i]) / scales_[i];
    return known_.slacks.empty() ? inf : sum;
  }

  /// By the same differences as the value's.
  void learn_constraints() {
    const auto n = start_.x.size();
    if (scales_.empty()) scales_.assign(start_.constraints, 0);
    known_.jacobian.setZero(n, static_cast<Eigen::Index>(start_.constraints));
    const std::size_t first = wanted_.value ? 1 : 0;
    for (std::size_t i = 0; i < start_.constraints && !known_.slacks.empty(); ++i) {
      std::vector<double> figures(slacks_->size(), inf);
      for (std::size_t k = 0; k < figures.size(); ++k)
        if (!(*slacks_)[k].empty()) figures[k] = (*slacks_)[k][i];
      const Eigen::VectorXd slope = slopes_.gradient(known_.slacks[i], figures, first);
      known_.jacobian.col(static_cast<Eigen::Index>(i)) = slope;
      if (scales_[i] == 0 && slope.norm() > 0) scales_[i] = slope.norm();
    }
    for (double& s : scales_) s = s > 0 ? s : 1;
  }

  void start_fiber() {
    fiber_ = std::make_unique<Fiber>([this](Fiber& fiber) { run(fiber); });
    go_on();
  }

  /// Continues to the next unknown point.
  void go_on() {
    for (int repeats = 0; repeats < most_repeats; ++repeats) {
      fiber_->resume();
      if (fiber_->over()) return conclude();
      if (!known() || (wanted_.slopes && !known_.sloped)) return;
    }
    conclude();
  }

  bool known() const { return known_.x.size() > 0 && at_ == known_.x; }

  /// The library has ended or makes no progress.
  void conclude() {
    fiber_.reset();
    stuck_ = false;
    over_ = !by_gradients(method_) || refined_ ||
            (start_.constraints > 0 ? !std::isfinite(value()) : !(value() < seen_.first));
    if (over_) return;
    refined_ = true;
    accuracy_ = Accuracy::central;
    seen_.idle = 0;
    at_ = known_.x = x();
    known_.value = value();
    if (start_.constraints > 0) known_.x.resize(0);  // its constraints are asked again
    seen_.least_violation = inf;
    known_.sloped = false;
    start_fiber();
  }

  double reply() const {
    const double worse = seen_.worst + (seen_.worst - value()) + std::abs(seen_.worst) * 1e-3;
    return ((std::isfinite(known_.value) ? known_.value : worse) - seen_.first) / scale_;
  }

  void run(Fiber& fiber) {
    const auto n = static_cast<unsigned>(start_.x.size());
    nlopt_opt opt = nlopt_create(algorithm_of(method_), n);
    nlopt_set_lower_bounds1(opt, 0);
    nlopt_set_upper_bounds1(opt, 1);
    nlopt_set_min_objective(opt, &NloptSearch::call, this);
    nlopt_set_initial_step1(opt, start_.step);
    if (!by_gradients(method_)) nlopt_set_xtol_abs1(opt, std::max(1e-15, std::sqrt(start_.noise) * 1e-4));
    if (start_.constraints > 0 && by_gradients(method_))
      nlopt_add_inequality_mconstraint(opt, static_cast<unsigned>(start_.constraints), &NloptSearch::constrain, this,
                                       nullptr);
    inside_ = {opt, &fiber};
    Eigen::VectorXd x = at_;
    double value = 0;
    nlopt_optimize(opt, x.data(), &value);
    nlopt_destroy(opt);
  }

  static double call(unsigned n, const double* x, double* gradient, void* self) {
    auto& s = *static_cast<NloptSearch*>(self);
    s.at_ = into_cube(Eigen::Map<const Eigen::VectorXd>(x, n));
    s.wanted_.slopes = gradient != nullptr;
    if (!s.inside_.fiber->wait()) {
      nlopt_force_stop(s.inside_.opt);
      if (gradient != nullptr) std::fill_n(gradient, n, 0.0);
      return 0;
    }
    if (gradient != nullptr) Eigen::Map<Eigen::VectorXd>(gradient, n) = s.known_.gradient / s.scale_;
    return s.reply();
  }

  static void constrain(unsigned m, double* slacks, unsigned n, const double* x, double* gradients, void* self) {
    auto& s = *static_cast<NloptSearch*>(self);
    s.at_ = into_cube(Eigen::Map<const Eigen::VectorXd>(x, n));
    s.wanted_.slopes = gradients != nullptr;
    const bool goes_on = s.inside_.fiber->wait();
    if (!goes_on) nlopt_force_stop(s.inside_.opt);
    const bool known = goes_on && !s.known_.slacks.empty();
    for (unsigned i = 0; i < m; ++i) {
      const double scale = s.scales_.empty() ? 1 : s.scales_[i];
      slacks[i] = known ? s.known_.slacks[i] / scale + tightening : 1;
      if (gradients == nullptr) continue;
      Eigen::Map<Eigen::VectorXd> gradient(gradients + static_cast<std::size_t>(i) * n, n);
      if (known) gradient = s.known_.jacobian.col(i) / scale;
      else gradient.setZero();
    }
  }

  struct Wanted {
    bool value = true, slopes = false;
  };
  /// The last point with a value.
  struct Known {
    Eigen::VectorXd x;
    double value = inf;
    bool sloped = false;  // its gradient is known too
    Eigen::VectorXd gradient;
    std::vector<double> slacks;  // of constraints
    Eigen::MatrixXd jacobian;    // slopes of constraints, a column each
  };
  /// The data that shows whether the search makes progress.
  struct Seen {
    double first = inf, worst = inf, marked = inf;
    double least_violation = inf, entry = inf;  // entry: the first value without a violation
    int idle = 0;                               // gradients without progress
  };
  struct Inside {
    nlopt_opt opt;
    Fiber* fiber;
  };

  const NloptMethod method_;
  const Start start_;
  Slopes slopes_;
  Accuracy accuracy_ = Accuracy::central;  // of the first gradient, because it gives the curvatures
  Eigen::VectorXd at_;                     // the library's current point
  Wanted wanted_;
  Known known_;
  Seen seen_;
  Eigen::VectorXd curvatures_;
  const std::vector<std::vector<double>>* slacks_ = nullptr;  // of the points that are being digested
  std::vector<double> scales_;                                // lengths of the constraints' first slopes
  double scale_ = 1;  // the library sees values less the first, over the length of the first gradient
  bool scaled_ = false, stuck_ = false, refined_ = false, over_ = false;
  Inside inside_{};
  std::unique_ptr<Fiber> fiber_;  // last, because it must end before the objects that its body uses
};
}  // namespace

std::unique_ptr<LocalSearch> nlopt_search(NloptMethod method, const Start& start) {
  return std::make_unique<NloptSearch>(method, start);
}

}  // namespace culmen::local
