#include "culmen/optimizer/methods/cmaes/lagrangian.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
namespace {
constexpr double damping = 5, share_of_value = 10, share_of_figure = 5;  // d_γ, k1, k2 of the paper, where k1 is 3
constexpr double tightening = 0.4, spread_memory = 0.6;                  // of the spread; of the newest spread
constexpr double first_penalty = 2;                                      // times the first multiplier's slope

/// Of at least one value.
double interquartile_range(std::vector<double> v) {
  std::ranges::sort(v);
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(v.size() - 1);
    const auto k = static_cast<std::size_t>(place);
    return k + 1 < v.size() ? v[k] + (place - static_cast<double>(k)) * (v[k + 1] - v[k]) : v[k];
  };
  return at(0.75) - at(0.25);
}
}  // namespace

double Lagrangian::Term::operator()(double g) const {
  if (penalty == 0) return 0;
  return quiet(g) ? -multiplier * multiplier / (2 * penalty) : (multiplier + penalty * g / 2) * g;
}

Lagrangian::Lagrangian(std::size_t constraints, std::size_t parameters, std::size_t population)
    : parameters_(static_cast<double>(parameters)),
      factor_(std::pow(2, 1 / std::sqrt(parameters_))),
      members_(population),
      terms_(constraints) {}

void Lagrangian::judge(std::vector<std::optional<Standing>>& standings) {
  for (std::size_t i = 0; i < terms_.size(); ++i) measure(i);
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (standings[k] && !members_[k].slacks.empty()) standings[k] = Standing{Standing::Fate::ok, merit(members_[k])};
  }
}

void Lagrangian::measure(std::size_t constraint) {
  std::vector<double> values, figures;
  for (const auto& m : members_) {
    if (m.slacks.empty()) continue;
    values.push_back(m.value);
    figures.push_back(m.slacks[constraint]);
  }
  if (figures.empty()) return;
  auto& term = terms_[constraint];
  const double spread = interquartile_range(figures);
  term.spread = term.spread < 0 ? spread : term.spread + spread_memory * (spread - term.spread);
  if (!term.begun) begin(term, figures, interquartile_range(values));
  term.shift = tightening * term.spread;
}

void Lagrangian::begin(Term& term, const std::vector<double>& figures, double range) const {
  const auto violating = static_cast<std::size_t>(std::ranges::count_if(figures, [](double g) { return g > 0; }));
  const double spread = interquartile_range(figures);
  if (violating == 0 || range <= 0 || spread <= 0) return;
  const bool all = violating == figures.size();
  const double slope = range / (parameters_ * spread);
  term.multiplier = all ? std::max(term.multiplier, slope) : slope;
  term.penalty = std::max(all ? term.penalty : 0, first_penalty * slope / spread);
  term.begun = !all || ++term.beginnings > 2 + static_cast<std::uint64_t>(parameters_);
}

double Lagrangian::merit(const Member& member) const {
  double sum = member.value;
  for (std::size_t i = 0; i < terms_.size(); ++i) sum += terms_[i](member.slacks[i] + terms_[i].shift);
  return sum;
}

void Lagrangian::learn(std::span<const double> weights) {
  double total = 0, value = 0;
  std::vector<double> figures(terms_.size(), 0.0);
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const auto& m = members_[k];
    if (!(weights[k] > 0) || m.slacks.empty()) continue;
    total += weights[k];
    value += weights[k] * m.value;
    for (std::size_t i = 0; i < terms_.size(); ++i) figures[i] += weights[k] * (m.slacks[i] + terms_[i].shift);
  }
  if (total == 0) return;
  value /= total;
  for (double& g : figures) g /= total;
  double change = value - last_value_;
  for (std::size_t i = 0; i < terms_.size(); ++i) change += terms_[i](figures[i]) - terms_[i](terms_[i].last);
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (has_last_) learn(terms_[i], figures[i], change);
    terms_[i].last = figures[i];
  }
  last_value_ = value;
  has_last_ = true;
}

/// The penalty of an inactive constraint does not learn.
void Lagrangian::learn(Term& term, double g, double change) const {
  if (term.penalty == 0) return;
  if (term.quiet(g)) {
    term.multiplier = std::max(0.0, term.multiplier * (1 - 1 / damping));
    return;
  }
  term.multiplier += term.penalty * g / damping;
  if (term.multiplier < 0) {
    term.multiplier = 0;
    return;
  }
  const bool too_weak = term.penalty * g * g < share_of_value * std::abs(change) / parameters_ ||
                        share_of_figure * std::abs(g - term.last) < std::abs(term.last);
  term.penalty *= too_weak ? std::pow(factor_, 0.25) : 1 / factor_;
}

}  // namespace culmen::cmaes
