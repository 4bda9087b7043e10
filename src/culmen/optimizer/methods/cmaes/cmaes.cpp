// "cmaes": CMA-ES with active covariance update and BIPOP restarts, in the unit cube. Never finishes by itself.
#include "culmen/optimizer/methods/cmaes/cmaes.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/cmaes/asynchronous.hpp"
#include "culmen/optimizer/methods/cmaes/bipop.hpp"
#include "culmen/optimizer/methods/cmaes/coordinates.hpp"
#include "culmen/optimizer/methods/cmaes/distribution.hpp"
#include "culmen/optimizer/methods/cmaes/lagrangian.hpp"
#include "culmen/optimizer/methods/cmaes/stopping.hpp"
#include "culmen/optimizer/methods/cmaes/uncertainty.hpp"
#include "culmen/optimizer/parts/constraints.hpp"
#include "culmen/optimizer/parts/standing.hpp"

namespace culmen {
namespace cmaes {
namespace {
constexpr double default_sigma = 0.25;

struct Settings {
  std::size_t population;  // of the first run
  std::size_t parallel;    // a generation has this size or a multiple of it
  double sigma;
  Correlations correlations;
  bool lagrangian;  // if there are constraint figures
  Noise noise;
};

std::size_t rounded_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

class CmaEs final : public Optimizer {
 public:
  CmaEs(const Space& space, std::uint64_t seed, const Settings& settings, const Yield& yield)
      : space_(space),
        random_(seed),
        settings_(settings),
        constraints_(space, yield),
        bipop_(settings.population),
        uncertainty_(settings_.lagrangian && constraints_.count() > 0 ? Noise::off : settings.noise) {
    begin_run(bipop_.first(), first_mean(space));
  }
  Mode mode() const override { return Mode::generational; }
  std::string name() const override { return "cmaes"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override {
    if (const auto k = id - first_id_; lagrangian_)
      lagrangian_->tell(k, outcome.value, constraints_.slacks(asked_[k], outcome));
    settle(id, Standing::of(outcome));
  }
  void do_cancel(EvaluationId id) override { settle(id, {}); }

  void begin_run(const Run& run, const Eigen::VectorXd& mean);
  void restart();
  void begin_generation();
  void settle(EvaluationId id, std::optional<Standing> standing);
  void end_generation();
  std::vector<double> weights(const std::vector<std::size_t>& ranking) const;

  const Space space_;
  Random random_;
  const Settings settings_;
  const Constraints constraints_;
  Bipop bipop_;
  std::optional<Distribution> distribution_;
  std::optional<Stopping> stopping_;
  std::optional<Lagrangian> lagrangian_;
  Uncertainty uncertainty_;
  std::vector<std::vector<double>> asked_;        // in this generation, if a Lagrangian judges them
  std::vector<std::vector<double>> repeated_;     // of the first members
  std::size_t repeats_ = 0;                       // members that are evaluated again, instead of the last members
  std::vector<std::optional<Standing>> members_;  // of this generation, in candidate order; none: open or cancelled
  std::size_t served_ = 0, settled_ = 0;
  bool large_ = false;  // whether the run is a large one
  std::uint64_t run_evaluations_ = 0;
  EvaluationId first_id_ = 0;  // of members_[0]
};

void CmaEs::begin_run(const Run& run, const Eigen::VectorXd& mean) {
  const Constants constants(space_.size(), rounded_up(run.population, settings_.parallel));
  const double sigma = settings_.sigma * run.sigma_factor;
  distribution_.emplace(constants, mean, sigma, Margin(space_, constants.population), settings_.correlations);
  stopping_.emplace(constants, real_ones(space_), sigma, run.max_evaluations);
  confine_to_cube(*distribution_);
  large_ = run.large;
  uncertainty_.forget();
  if (settings_.lagrangian && constraints_.count() > 0)
    lagrangian_.emplace(constraints_.count(), constants.n, constants.population);
  run_evaluations_ = 0;
  begin_generation();
}

void CmaEs::restart() {
  bipop_.ended(large_, run_evaluations_);
  const Run run = bipop_.next({}, random_);
  begin_run(run, random_mean(space_, random_));
}

void CmaEs::begin_generation() {
  members_.assign(distribution_->constants().population, std::nullopt);
  first_id_ += std::exchange(served_, 0);
  settled_ = 0;
  repeats_ = uncertainty_.begin_generation(members_.size());
  repeated_.clear();
  asked_.clear();
  if (lagrangian_) lagrangian_->begin_generation();
}

void CmaEs::do_ask(std::size_t n, std::vector<Candidate>& out) {
  const std::size_t got = std::min(n, members_.size() - served_), first = members_.size() - repeats_;
  for (std::size_t k = 0; k < got; ++k, ++served_) {
    if (served_ >= first) {
      out.push_back({0, repeated_[served_ - first]});
      continue;
    }
    out.push_back({0, into_space(space_, distribution_->sample(served_, random_))});
    if (served_ < repeats_) repeated_.push_back(out.back().x);
    if (lagrangian_) asked_.push_back(out.back().x);
  }
}

void CmaEs::settle(EvaluationId id, std::optional<Standing> standing) {
  const std::size_t k = id - first_id_, first = members_.size() - repeats_;
  if (k < first) members_[k] = standing;
  else uncertainty_.tell(k - first, standing);
  if (++settled_ == members_.size()) end_generation();
}

void CmaEs::end_generation() {
  if (lagrangian_) lagrangian_->judge(members_);
  uncertainty_.end_generation(members_);
  const auto order = best_first(members_);
  std::vector<double> sorted;
  for (const auto k : order) {
    if (members_[k]->ok()) sorted.push_back(members_[k]->value);
  }
  run_evaluations_ += members_.size();
  const bool any = std::ranges::any_of(order, [&](std::size_t k) { return !members_[k]->failed(); });
  if (any) {
    const auto weights = this->weights(order);
    distribution_->update(weights);
    if (lagrangian_) lagrangian_->learn(weights);
  }
  if (stopping_->over(*distribution_, sorted) || uncertainty_.dominates()) restart();
  else begin_generation();
}

/// If some were cancelled, the others spread over all ranks. Nothing moves towards a failure.
std::vector<double> CmaEs::weights(const std::vector<std::size_t>& ranking) const {
  std::vector<double> out(members_.size(), 0.0);
  for (std::size_t r = 0; r < ranking.size(); ++r) {
    const double w = distribution_->constants().weights[(2 * r + 1) * members_.size() / (2 * ranking.size())];
    const bool towards_failure = w > 0 && members_[ranking[r]]->failed();
    out[ranking[r]] = towards_failure ? 0 : w;
  }
  return out;
}

constexpr std::size_t most_with_full_covariance = 200;  // with this many a candidate takes a tenth of a millisecond

Correlations correlations(const std::string& word, std::size_t n) {
  if (word == "auto") return n <= most_with_full_covariance ? Correlations::full : Correlations::limited;
  return word == "full" ? Correlations::full : word == "diagonal" ? Correlations::none : Correlations::limited;
}

Noise noise(const std::string& word) {
  return word == "auto" ? Noise::automatic : word == "on" ? Noise::on : Noise::off;
}

Settings settings(const Space& space, const OptimizerOptions& options) {
  const std::size_t population =
      options.contains("population") ? count_of(options, "population") : Constants::default_population(space.size());
  const std::size_t parallel = count_of(options, "parallel");
  return {rounded_up(population, parallel),
          parallel,
          number_of(options, "sigma"),
          correlations(word_of(options, "covariance"), space.size()),
          word_of(options, "constraints") == "lagrangian",
          noise(word_of(options, "noise"))};
}

AsynchronousSettings asynchronous_settings(const Space& space, const OptimizerOptions& options) {
  AsynchronousSettings out{
      .population = {}, .parallel = count_of(options, "parallel"), .sigma = number_of(options, "sigma")};
  if (options.contains("population")) out.population = count_of(options, "population");
  out.lagrangian = word_of(options, "constraints") == "lagrangian";
  out.correlations = correlations(word_of(options, "covariance"), space.size());
  if (const auto& word = word_of(options, "stale"); word != "corrected")
    out.stale = word == "weighted" ? Stale::weighted : Stale::ignored;
  return out;
}
}  // namespace
}  // namespace cmaes

OptimizerKind cmaes_kind() {
  return {{.name = "cmaes",
           .about = "CMA-ES with restarts: one objective that may be rugged, numeric parameters that may be correlated",
           .needs_order = true,
           .asynchronous = true,
           .options =
               {OptionRule::word("constraints",
                                 "lagrangian: learn a penalty for each constraint or limit; last: rank "
                                 "candidates with violations behind all others",
                                 {"lagrangian", "last"}, "lagrangian"),
                OptionRule::word("covariance",
                                 "correlations to learn: all (full), few (limited) or none (diagonal); auto: full "
                                 "for at most 200 parameters, otherwise limited",
                                 {"auto", "full", "diagonal", "limited"}, "auto"),
                OptionRule::word("noise",
                                 "on: the values are noisy; off: the values are not noisy; auto: cmaes tests whether "
                                 "the values are noisy",
                                 {"auto", "on", "off"}, "auto"),
                OptionRule::whole("parallel",
                                  "the number of candidates in a generation is rounded up to a multiple of this number",
                                  1, 10000, 1),
                OptionRule::whole("population", "number of candidates in a generation, until the first restart", 4,
                                  10000, "4 + 3 ln n for n parameters; more in asynchronous studies with many workers"),
                OptionRule::number("sigma", "initial standard deviation, as a fraction of each parameter's range", 1e-6,
                                   1, cmaes::default_sigma),
                OptionRule::word(
                    "stale", "only in asynchronous studies: what happens to results that arrive late; keep the default",
                    {"corrected", "weighted", "ignored"}, "corrected")}},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions& options,
             const Terms& terms) -> std::unique_ptr<Optimizer> {
            if (terms.mode == Mode::asynchronous)
              return cmaes::make_asynchronous(space, seed, cmaes::asynchronous_settings(space, options), terms.yield);
            return std::make_unique<cmaes::CmaEs>(space, seed, cmaes::settings(space, options), terms.yield);
          }};
}

}  // namespace culmen
