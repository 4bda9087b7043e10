#include "culmen/simulation/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "culmen/evaluation/judge.hpp"

namespace culmen {
namespace {

/// Between 0.3 and 0.7; another point for each objective.
double minimum_at(std::size_t parameter, std::size_t objective) {
  const double steps = static_cast<double>(parameter + 1) + 0.37 * static_cast<double>(objective);
  double whole = 0;
  return 0.3 + 0.4 * std::modf(steps * std::numbers::phi, &whole);
}

using Terms = std::vector<double>;  // their squares sum up to the value

Terms rosenbrock(const Terms& d) {
  Terms out;
  for (std::size_t i = 0; i < d.size(); ++i) {
    const double z = 1 + 4 * d[i];
    out.push_back(1 - z);
    if (i + 1 < d.size()) out.push_back(10 * (1 + 4 * d[i + 1] - z * z));
  }
  return out;
}

Terms rastrigin(const Terms& d) {
  Terms out;
  for (const double distance : d) {
    const double z = 10 * distance;
    out.push_back(std::sqrt(z * z + 10 * (1 - std::cos(2 * std::numbers::pi * z))));
  }
  return out;
}

double sum_of_squares(const Terms& terms) {
  double sum = 0;
  for (const double t : terms) sum += t * t;
  return sum;
}

double inside(const Limit& limit) {
  if (std::isfinite(limit.lower) && std::isfinite(limit.upper)) return limit.lower + (limit.upper - limit.lower) / 2;
  return std::isfinite(limit.lower) ? limit.lower : limit.upper;
}

class Surrogate final : public Evaluator {
 public:
  Surrogate(TestFunction function, const SetUp& set_up, Durations durations)
      : function_(function), space_(set_up.space), durations_(std::move(durations)), result_(set_up.evaluator.result) {
    const auto& goals = set_up.goals;
    std::set<std::string> names;
    for (const auto& objective : goals.objectives)
      if (!goals.is_derived(objective.name)) names.insert(objective.name);
    for (const auto& [owner, name] : Judge(goals, set_up.space).needs()) names.insert(name);
    for (const auto& limit : goals.limits)
      if (names.erase(limit.name) > 0 || !goals.is_derived(limit.name))
        limited_.emplace_back(limit.name, inside(limit));
    figures_.assign(names.begin(), names.end());
  }

  Outcome evaluate(const Candidate& candidate, Attempt attempt) override {
    auto outcome = result_ == ResultKind::residuals ? Outcome::of_residuals(terms_at(candidate, 0))
                                                    : Outcome::of_value(sum_of_squares(terms_at(candidate, 0)));
    for (std::size_t k = 0; k < figures_.size(); ++k)
      outcome.extras.emplace_back(figures_[k], sum_of_squares(terms_at(candidate, k)));
    outcome.extras.insert(outcome.extras.end(), limited_.begin(), limited_.end());
    outcome.duration_s = durations_.of(candidate.id, attempt);
    return outcome;
  }

 private:
  Terms terms_at(const Candidate& candidate, std::size_t objective) {
    distances(candidate, objective);
    if (function_ == TestFunction::rosenbrock) return rosenbrock(distances_);
    if (function_ == TestFunction::rastrigin) return rastrigin(distances_);
    return distances_;
  }

  void distances(const Candidate& candidate, std::size_t objective) {
    const auto& x = candidate.x;  // a whole vector
    distances_.resize(space_.size());
    for (std::size_t i = 0; i < space_.size(); ++i) distances_[i] = x[space_.place(i)];
    const auto at = distances_;
    auto rested = at;
    for (auto& value : rested)
      if (std::isnan(value)) value = 0;
    space_.to_unit(rested, distances_);
    for (std::size_t i = 0; i < at.size(); ++i)
      distances_[i] = std::isnan(at[i]) ? 0 : distances_[i] - minimum_at(i, objective);
  }

  TestFunction function_;
  Space space_;
  Durations durations_;
  ResultKind result_;
  std::vector<std::string> figures_;
  std::vector<std::pair<std::string, double>> limited_;
  Terms distances_;
};

}  // namespace

std::unique_ptr<Evaluator> make_surrogate(TestFunction function, const SetUp& set_up, Durations durations) {
  return std::make_unique<Surrogate>(function, set_up, std::move(durations));
}

}  // namespace culmen
