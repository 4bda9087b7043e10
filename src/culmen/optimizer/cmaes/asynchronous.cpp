#include "culmen/optimizer/cmaes/asynchronous.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/cmaes/bipop.hpp"
#include "culmen/optimizer/cmaes/coordinates.hpp"
#include "culmen/optimizer/cmaes/quadratic.hpp"
#include "culmen/optimizer/cmaes/stopping.hpp"
#include "culmen/optimizer/standing.hpp"

namespace culmen::cmaes {
namespace {
using Eigen::Index;
using Eigen::VectorXd;

// Full ratios of densities leave a few points with all of the weight; their fourth root keeps half of what counts.
constexpr double ratio_exponent = 0.25;
// Of the way that the mean has gone since a point was drawn. Without it the means that points came from go on beside
// each other, as many as there are updates in a duration, and the step size sees their differences; with all of it each
// of them makes the same step again.
constexpr double taken_along = 0.5;
constexpr std::size_t most_modelled = 20;     // parameters
constexpr std::size_t most_compared = 100;    // results
constexpr double trust = 0.85;                // rank correlation from which the polynomial stands in for values
constexpr int most_steps_ahead = 10;          // of the distribution on the polynomial, between two updates
constexpr double most_contraction_log = 1.4;  // of a coordinate's deviation, against what results came from

/// What points were drawn from, and where those lie on average: beside a bound not at the mean of the density.
struct Origin {
  Density density;
  VectorXd sum = VectorXd::Zero(density.mean.size());
  double count = 0;
};

struct Drawn {
  std::uint64_t run;
  std::shared_ptr<const Origin> origin;
  VectorXd point;
  double log_density;
};

struct Result {
  Drawn drawn;
  Standing standing;
};

class Asynchronous final : public Optimizer {
 public:
  Asynchronous(const Space& space, std::uint64_t seed, const AsynchronousSettings& settings)
      : space_(space),
        random_(seed),
        settings_(settings),
        modelled_(settings.stale == Stale::corrected && space.size() <= most_modelled && all_real(space)),
        model_(space.size()),
        bipop_(population()) {
    begin_run(bipop_.first(), first_mean(space_));
  }
  bool generational() const override { return false; }
  std::string name() const override { return "cmaes"; }
  void resize(std::size_t workers) override;

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override;
  void do_cancel(EvaluationId id) override { open_.erase(id); }

  static bool all_real(const Space& space) {
    return std::ranges::none_of(space.parameters(), [](const Parameter& p) { return p.discrete(); });
  }
  std::size_t population() const;
  void begin_run(const Run& run, const VectorXd& mean);
  void prepare(const Run& run, const VectorXd& mean);
  void update();
  std::vector<std::size_t> ranking() const;
  std::vector<double> ratios() const;
  VectorXd mean_offset(const std::vector<double>& ratios) const;
  VectorXd brought_up(const Drawn& drawn, const VectorXd& off) const;
  void learn(const std::vector<std::size_t>& ranking);
  double foretold();
  void step_ahead();

  const Space space_;
  Random random_;
  const AsynchronousSettings settings_;
  const bool modelled_;
  std::size_t workers_ = 1;
  Quadratic model_;
  Bipop bipop_;
  std::optional<Distribution> distribution_;
  std::optional<Stopping> stopping_;
  std::shared_ptr<Origin> origin_;  // of what is drawn now
  std::unordered_map<EvaluationId, Drawn> open_;
  std::vector<Result> results_;  // since the last update
  std::uint64_t run_ = 0, run_evaluations_ = 0, served_ = 0;
};

std::size_t Asynchronous::population() const {
  if (settings_.population) return *settings_.population;
  return std::max(Constants::default_population(space_.size()), workers_ / 2);
}

/// Nothing is lost by a change before the first update: what was drawn came from the same distribution.
void Asynchronous::resize(std::size_t workers) {
  workers_ = workers;
  if (settings_.population || run_ > 1) return;
  bipop_ = Bipop(population());
  if (distribution_->generation() > 0 || run_evaluations_ > 0) return;
  prepare(bipop_.first(), first_mean(space_));
  if (results_.size() >= distribution_->constants().population) update();
}

void Asynchronous::begin_run(const Run& run, const VectorXd& mean) {
  ++run_;
  run_evaluations_ = 0;
  results_.clear();
  model_ = Quadratic(space_.size());
  prepare(run, mean);
}

void Asynchronous::prepare(const Run& run, const VectorXd& mean) {
  const Constants constants(space_.size(), run.population);
  std::vector<char> real;
  for (const auto& p : space_.parameters()) real.push_back(!p.discrete());
  const double sigma = settings_.sigma * run.sigma_factor;
  distribution_.emplace(constants, mean, sigma, least_deviations(space_), settings_.correlations);
  confine_to_cube(space_, *distribution_);
  served_ = 0;
  stopping_.emplace(constants, std::move(real), sigma, run.max_evaluations);
  origin_ = std::make_shared<Origin>(Origin{distribution_->density()});
}

void Asynchronous::do_ask(std::size_t n, std::vector<Candidate>& out) {
  for (std::size_t k = 0; k < n; ++k) {
    const auto& point = distribution_->sample(served_++ % distribution_->constants().population, random_);
    origin_->sum += point;
    ++origin_->count;
    open_.emplace(asked() + k, Drawn{run_, origin_, point, origin_->density.log_at(point)});
    out.push_back({0, into_space(space_, point)});
  }
}

void Asynchronous::do_tell(EvaluationId id, const Outcome& outcome) {
  auto drawn = std::move(open_.extract(id).mapped());
  if (drawn.run != run_) return;
  results_.push_back({std::move(drawn), Standing::of(outcome)});
  if (results_.size() >= distribution_->constants().population) update();
}

void Asynchronous::update() {
  const auto order = ranking();
  const bool any = !results_[order.front()].standing.failed();
  const bool trusted = modelled_ && foretold() >= trust;
  if (any && !trusted) learn(order);
  if (modelled_) model_.fit(distribution_->density());
  if (trusted && model_.fitted()) step_ahead();
  origin_ = std::make_shared<Origin>(Origin{distribution_->density()});
  std::vector<double> sorted;
  for (const auto k : order) {
    if (results_[k].standing.ok()) sorted.push_back(results_[k].standing.value);
  }
  run_evaluations_ += results_.size();
  results_.clear();
  if (!stopping_->over(*distribution_, sorted)) return;
  const Run next = bipop_.next(run_evaluations_, random_);
  VectorXd mean(origin_->density.mean.size());
  for (double& m : mean) m = random_.uniform();
  begin_run(next, mean);
}

/// Best first: then those that violate a constraint, the least violation first, failures last; the earlier arrival goes
/// first among equals.
std::vector<std::size_t> Asynchronous::ranking() const {
  std::vector<std::size_t> order(results_.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return results_[a].standing.better_than(results_[b].standing); });
  return order;
}

/// At most 1 each: more would give the weight of many to a few.
std::vector<double> Asynchronous::ratios() const {
  std::vector<double> out(results_.size(), 1.0);
  if (settings_.stale == Stale::ignored) return out;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto& drawn = results_[k].drawn;
    const double log_ratio = origin_->density.log_at(drawn.point) - drawn.log_density;
    out[k] = std::exp(std::max(-100.0, ratio_exponent * std::min(0.0, log_ratio)));
  }
  return out;
}

/// Of points from the middles of all that were drawn with them. It is zero but for chance, where the time of an
/// evaluation does not depend on its point; else quick regions are over-represented in what has arrived, and this is by
/// how much.
VectorXd Asynchronous::mean_offset(const std::vector<double>& ratios) const {
  VectorXd sum = VectorXd::Zero(origin_->density.mean.size());
  double all = 0;
  for (std::size_t k = 0; k < ratios.size(); ++k) {
    const auto& origin = *results_[k].drawn.origin;
    sum += ratios[k] * (results_[k].drawn.point - origin.sum / origin.count);
    all += ratios[k];
  }
  return sum / all;
}

VectorXd Asynchronous::brought_up(const Drawn& drawn, const VectorXd& off) const {
  if (settings_.stale == Stale::ignored) return drawn.point;
  return drawn.point - off + taken_along * (distribution_->mean() - drawn.origin->density.mean);
}

/// A rank's weight is that of its place among all ratios, times its own. Nothing moves towards a failure.
void Asynchronous::learn(const std::vector<std::size_t>& ranking) {
  const auto& constants = distribution_->constants();
  const auto ratio = ratios();
  double all = 0, before = 0, plus = 0, minus = 0, standard_minus = 0;
  for (const double r : ratio) all += r;
  for (const double w : constants.weights) standard_minus -= std::min(0.0, w);
  const VectorXd off = mean_offset(ratio);
  std::vector<double> weights(constants.population, 0.0);
  for (const auto k : ranking) {
    distribution_->place(k, brought_up(results_[k].drawn, off));
    const double place = (before + ratio[k] / 2) / all * static_cast<double>(constants.population);
    before += ratio[k];
    const double w = ratio[k] * constants.weights[std::min(static_cast<std::size_t>(place), weights.size() - 1)];
    weights[k] = w > 0 && results_[k].standing.failed() ? 0 : w;
    (w > 0 ? plus : minus) += std::abs(weights[k]);
  }
  if (plus == 0) return;
  const double negative = minus == 0 ? 0 : standard_minus / minus * all / static_cast<double>(ratio.size());
  double squares = 0;
  for (double& w : weights) {
    w *= w > 0 ? 1 / plus : negative;
    if (w > 0) squares += w * w;
  }
  distribution_->update(weights, 1 / squares);
}

/// How well the polynomial ranks the last results, which it has not seen; then it is given them.
double Asynchronous::foretold() {
  std::vector<std::pair<double, double>> pairs;
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const auto& standing = results_[k].standing;
    if (!standing.ok()) continue;
    const VectorXd x = within_cube(results_[k].drawn.point);
    if (model_.fitted() && k + most_compared >= results_.size()) pairs.emplace_back(model_(x), standing.value);
    model_.add(x, standing.value);
  }
  return rank_correlation(pairs);
}

/// Lets the distribution learn from the polynomial's values until it has left the region that results came from.
void Asynchronous::step_ahead() {
  std::vector<double> volumes;
  for (const auto& r : results_) volumes.push_back(r.drawn.origin->density.log_volume);
  const auto middle = volumes.begin() + static_cast<std::ptrdiff_t>(volumes.size() / 2);
  std::nth_element(volumes.begin(), middle, volumes.end());
  const double n = static_cast<double>(space_.size()), least_volume = *middle - n * most_contraction_log;
  const auto begin = distribution_->density();
  const auto& ranked = distribution_->constants().weights;
  std::vector<std::pair<double, std::size_t>> values(ranked.size());
  std::vector<double> weights(ranked.size());
  for (int step = 0; step < most_steps_ahead && distribution_->healthy(); ++step) {
    if (distribution_->density().log_volume < least_volume) return;
    if (begin.whitened(distribution_->mean() - begin.mean).squaredNorm() > n) return;
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = {model_(within_cube(distribution_->sample(k, random_))), k};
    std::ranges::sort(values);
    for (std::size_t r = 0; r < values.size(); ++r) weights[values[r].second] = ranked[r];
    distribution_->update(weights);
  }
}
}  // namespace

std::unique_ptr<Optimizer> make_asynchronous(const Space& space, std::uint64_t seed,
                                             const AsynchronousSettings& settings) {
  return std::make_unique<Asynchronous>(space, seed, settings);
}

}  // namespace culmen::cmaes
