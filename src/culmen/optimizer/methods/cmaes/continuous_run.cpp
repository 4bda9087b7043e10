#include "culmen/optimizer/methods/cmaes/continuous_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/methods/cmaes/coordinates.hpp"

namespace culmen::cmaes {
using Eigen::Index;
using Eigen::VectorXd;
namespace {
// The full density ratios give all weight to a few points. Their fourth root keeps half of the effective number. With
// many parameters a higher root is needed.
constexpr double ratio_exponent = 0.25, least_exponent = 1e-6;
constexpr double least_kept = 0.3;  // of the number of results: the effective number that the root keeps
// The share of the mean's movement, since a point was drawn, that is added to the point. With 0 there are as many
// separate means as updates in an evaluation's duration, and their differences disturb the step size. With 1 each of
// them makes the same step again.
constexpr double taken_along = 0.5;
constexpr std::size_t most_modelled = 20;        // parameters
constexpr std::size_t most_fitted_at_once = 12;  // parameters: within a millisecond
constexpr std::size_t most_compared = 100;       // results
constexpr double trust = 0.85;                   // rank correlation from which the polynomial replaces values
constexpr int most_steps_ahead = 10;             // of the distribution on the polynomial, between two updates
constexpr double most_contraction_log = 1.4;     // of a coordinate's deviation, relative to that of the results

/// The ratios of these logarithms, reduced to a power at which enough results count.
std::vector<double> tempered(const std::vector<double>& logarithms) {
  const double highest = *std::ranges::max_element(logarithms);
  std::vector<double> out(logarithms.size());
  for (double exponent = ratio_exponent; exponent >= least_exponent; exponent /= 2) {
    double sum = 0, squares = 0;
    for (std::size_t k = 0; k < out.size(); ++k) {
      out[k] = std::exp(std::max(-100.0, exponent * (logarithms[k] - highest)));
      sum += out[k];
      squares += out[k] * out[k];
    }
    if (sum * sum >= least_kept * static_cast<double>(out.size()) * squares) break;
  }
  return out;
}

bool modelled(const Space& space, Stale stale) {
  return stale == Stale::corrected && space.size() <= most_modelled && std::ranges::count(real_ones(space), 0) == 0;
}
}  // namespace

ContinuousRun::ContinuousRun(const Space& space, const AsynchronousSettings& settings, const Run& run,
                             const VectorXd& mean, std::size_t constraints)
    : space_(space),
      stale_(settings.stale),
      modelled_(constraints == 0 && modelled(space, settings.stale)),
      distribution_(Constants(space.size(), run.population), mean, settings.sigma * run.sigma_factor,
                    Margin(space, run.population), settings.correlations),
      stopping_(distribution_.constants(), real_ones(space), distribution_.sigma(), run.max_evaluations),
      model_(space.size()) {
  if (constraints > 0) lagrangian_.emplace(constraints, space.size(), run.population);
  confine_to_cube(distribution_);
  origin_ = std::make_shared<Origin>(Origin{distribution_.density()});
}

Drawn ContinuousRun::draw(Random& random) {
  const std::size_t k = served_++ % population();
  const auto& point = distribution_.sample(k, random);
  origin_->sum += point;
  ++origin_->count;
  return {origin_, point, -distribution_.squared_norm(k) / 2 - origin_->density.log_volume};
}

void ContinuousRun::take_over(const ContinuousRun& other, Random& random) {
  for (std::size_t k = 0; k < other.results_.size(); ++k)
    tell(other.results_[k], lagrangian_ ? other.measured_[k] : Measured{}, random);
}

bool ContinuousRun::tell(Result result, Measured measured, Random& random) {
  results_.push_back(std::move(result));
  if (lagrangian_) measured_.push_back(std::move(measured));
  ++evaluations_;
  return results_.size() >= population() && update(random);
}

/// Best first, after a Lagrangian has judged.
std::vector<std::size_t> ContinuousRun::ranking() {
  std::vector<std::optional<Standing>> standings;
  for (const auto& r : results_) standings.emplace_back(r.standing);
  if (!lagrangian_) return best_first(standings);
  for (std::size_t k = 0; k < results_.size(); ++k)
    lagrangian_->tell(k, measured_[k].value, std::move(measured_[k].slacks));
  lagrangian_->judge(standings);
  for (std::size_t k = 0; k < results_.size(); ++k) results_[k].standing = *standings[k];
  measured_.clear();
  return best_first(standings);
}

bool ContinuousRun::update(Random& random) {
  const auto order = ranking();
  const bool any = !results_[order.front()].standing.failed();
  const bool trusted = modelled_ && foretold() >= trust;
  if (any && !trusted) learn(order);
  if (modelled_) fit();
  if (trusted && model_.fitted()) step_ahead(random);
  origin_ = std::make_shared<Origin>(Origin{distribution_.density()});
  std::vector<double> sorted;
  for (const auto k : order) {
    if (results_[k].standing.ok()) sorted.push_back(results_[k].standing.value);
  }
  results_.clear();
  return stopping_.over(distribution_, sorted);
}

/// At most 1 each: larger ratios would give most of the weight to a few.
std::vector<double> ContinuousRun::ratios() const {
  std::vector<double> logarithms(results_.size(), 0.0);
  if (stale_ == Stale::ignored) return std::vector<double>(results_.size(), 1.0);
  for (std::size_t k = 0; k < logarithms.size(); ++k) {
    const auto& drawn = results_[k].drawn;
    logarithms[k] = std::min(0.0, origin_->density.log_at(drawn.point) - drawn.log_density);
  }
  return tempered(logarithms);
}

/// The mean offset of points from the means of the distributions that they came from. It is zero on average if the
/// duration of an evaluation does not depend on its point. Otherwise quick regions are over-represented in the results
/// by this offset.
VectorXd ContinuousRun::mean_offset(const std::vector<double>& ratios) const {
  VectorXd sum = VectorXd::Zero(origin_->density.mean.size());
  double all = 0;
  for (std::size_t k = 0; k < ratios.size(); ++k) {
    const auto& origin = *results_[k].drawn.origin;
    sum += ratios[k] * (results_[k].drawn.point - origin.sum / origin.count);
    all += ratios[k];
  }
  return sum / all;
}

VectorXd ContinuousRun::brought_up(const Drawn& drawn, const VectorXd& off) const {
  if (stale_ == Stale::ignored) return drawn.point;
  return drawn.point - off + taken_along * (distribution_.mean() - drawn.origin->density.mean);
}

/// The weight of a rank depends on its place among all ratios, times its own ratio. Nothing moves towards a failure.
void ContinuousRun::learn(const std::vector<std::size_t>& ranking) {
  const auto& constants = distribution_.constants();
  const auto ratio = ratios();
  double all = 0, before = 0, plus = 0, minus = 0, standard_minus = 0;
  for (const double r : ratio) all += r;
  for (const double w : constants.weights) standard_minus -= std::min(0.0, w);
  const VectorXd off = mean_offset(ratio);
  std::vector<double> weights(constants.population, 0.0);
  for (const auto k : ranking) {
    distribution_.place(k, brought_up(results_[k].drawn, off));
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
  distribution_.update(weights, 1 / squares);
  if (lagrangian_) lagrangian_->learn(weights);
}

/// How well the polynomial ranks the last results, which it has not seen. It then receives them.
double ContinuousRun::foretold() {
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

void ContinuousRun::fit() {
  auto fit = model_.due(distribution_.density());
  if (!fit) return;
  if (space_.size() <= most_fitted_at_once) model_.adopt(fit->frame, fit->coefficients());
  else due_ = std::make_shared<const Quadratic::Fit>(std::move(*fit));
}

std::shared_ptr<const Quadratic::Fit> ContinuousRun::take_fit() {
  if (due_) fitting_ = due_;
  return std::exchange(due_, nullptr);
}

/// The distribution learns from the polynomial's values until it has left the region of the results.
void ContinuousRun::step_ahead(Random& random) {
  std::vector<double> volumes;
  for (const auto& r : results_) volumes.push_back(r.drawn.origin->density.log_volume);
  const auto middle = volumes.begin() + static_cast<std::ptrdiff_t>(volumes.size() / 2);
  std::nth_element(volumes.begin(), middle, volumes.end());
  const double n = static_cast<double>(space_.size()), least_volume = *middle - n * most_contraction_log;
  const auto begin = distribution_.density();
  const auto& ranked = distribution_.constants().weights;
  std::vector<std::pair<double, std::size_t>> values(ranked.size());
  std::vector<double> weights(ranked.size());
  for (int step = 0; step < most_steps_ahead && distribution_.healthy(); ++step) {
    if (distribution_.density().log_volume < least_volume) return;
    if (begin.whitened(distribution_.mean() - begin.mean).squaredNorm() > n) return;
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = {model_(within_cube(distribution_.sample(k, random))), k};
    std::ranges::sort(values);
    for (std::size_t r = 0; r < values.size(); ++r) weights[values[r].second] = ranked[r];
    distribution_.update(weights);
  }
}

}  // namespace culmen::cmaes
