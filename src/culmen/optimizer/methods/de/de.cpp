// "de": differential evolution in the unit cube, similar to L-SHADE (Tanabe and Fukunaga, CEC 2014 p. 1658):
// current-to-pbest/1/bin, an archive, success-history adaptation and linear population size reduction. Runs with
// growing populations follow each other and share the memory. It never finishes by itself.
//
// Without generations each result competes at once with the current member of its place. All places get the same number
// of trials (RoundRobin), and none has parents until most of the first results are back (Founders): otherwise quick
// evaluations would displace slow ones. At the start of a run there is at least one place for four workers.
#include "culmen/optimizer/methods/de/de.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "culmen/optimizer/methods/de/memory.hpp"
#include "culmen/optimizer/methods/de/plan.hpp"
#include "culmen/optimizer/methods/de/population.hpp"
#include "culmen/optimizer/methods/de/variation.hpp"
#include "culmen/optimizer/parts/convergence.hpp"
#include "culmen/optimizer/parts/founders.hpp"
#include "culmen/optimizer/parts/population_search.hpp"
#include "culmen/optimizer/parts/round_robin.hpp"

namespace culmen {
namespace de {
namespace {
constexpr double archive_share = 1.4;  // of the population
constexpr std::size_t memory_length = 6;
constexpr Strategy first_strategy{0.5, 0.9};
constexpr std::uint64_t idle_generations = 100;  // then a run is given up
constexpr std::size_t workers_to_a_place = 4;    // at most, when a run begins

struct Trial {
  unsigned run;
  std::size_t place;
  Point x;
  std::optional<Strategy> strategy;  // none: it has no parents
  bool founder;
};

class DifferentialEvolution final : public PopulationSearch<Trial, Standing> {
 public:
  DifferentialEvolution(const Space& space, std::uint64_t seed, const Plan::Sizes& sizes, const Terms& terms)
      : PopulationSearch(terms),
        space_(space),
        evaluations_(terms.evaluations),
        sizes_(sizes),
        random_(seed),
        variation_(space),
        memory_(memory_length, first_strategy),
        plan_(plan()) {
    begin_run();
  }
  bool begins_at_start() const override { return true; }
  std::string name() const override { return "de"; }
  void resize(std::size_t workers) override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  Trial propose(std::vector<double>& x) override;
  Standing verdict_of(const Outcome& outcome) const override { return Standing::of(outcome); }
  void absorb(Trial&& trial, std::optional<Standing>&& verdict) override;
  void end_generation() override;

  Plan plan() const {
    return {sizes_, run_, workers_ / workers_to_a_place, evaluations_ > used_ ? evaluations_ - used_ : 0};
  }
  void begin_run();
  bool has_donors() const;
  void compete(std::size_t place, Trial&& trial, const Standing& standing);
  void remember(const Trial& trial, const Standing& before, const Standing& now);
  void invite_guests();
  bool converged();
  std::size_t capacity() const {
    return static_cast<std::size_t>(archive_share * static_cast<double>(population_.size()));
  }

  const Space space_;
  const std::uint64_t evaluations_;
  const Plan::Sizes sizes_;
  bool started_ = false;
  unsigned run_ = 0;
  std::size_t workers_ = 0;
  std::uint64_t used_ = 0, used_by_run_ = 0;
  Random random_;
  const Variation variation_;
  Memory memory_;
  Plan plan_;
  Population population_;
  RoundRobin turns_;
  Founders founders_;
  Archive archive_;
  Convergence convergence_{idle_generations};
  std::vector<Memory::Success> successes_;  // of this generation
  std::vector<std::pair<Point, Standing>> guests_;
};

void DifferentialEvolution::begin_run() {
  plan_ = plan();
  population_ = Population(plan_.population());
  turns_ = {};
  founders_ = Founders(plan_.population());
  archive_ = {};
  successes_.clear();
  used_by_run_ = 0;
  convergence_ = Convergence(idle_generations);
  begin_generation(population_.size());
}

void DifferentialEvolution::resize(std::size_t workers) {
  if (generational()) return;
  workers_ = workers;
  if (used_by_run_ > 0) return;
  plan_ = plan();
  population_.grow(plan_.population());
  founders_.grow(plan_.population());
  begin_generation(population_.size());
}

void DifferentialEvolution::hear(const std::vector<double>& x, const Outcome& outcome) {
  guests_.push_back({Point(x.size()), Standing::of(outcome)});
  space_.to_unit(x, guests_.back().first);
}

bool DifferentialEvolution::has_donors() const {
  constexpr auto n = Variation::least_parents;
  const auto& order = population_.order();
  return order.size() >= n && !population_.standing(order[n - 1]).failed();
}

Trial DifferentialEvolution::propose(std::vector<double>& x) {
  const auto place = turns_.take(population_.places(), [&](std::size_t p) { return population_.alive(p); });
  Trial trial{run_, place, {}, {}, founders_.enlist()};
  x.resize(space_.size());
  if (!std::exchange(started_, true)) {
    x = space_.start();
    space_.rest_inactive(x);
    trial.x.resize(x.size());
    space_.to_unit(x, trial.x);
    return trial;
  }
  if (founders_.settled() && population_.filled(place) && has_donors()) {
    trial.strategy = memory_.draw(random_);
    trial.x = variation_.trial(population_, archive_, place, *trial.strategy, random_);
  } else {
    trial.x = variation_.anywhere(random_);
  }
  space_.from_unit(trial.x, x);
  return trial;
}

void DifferentialEvolution::absorb(Trial&& trial, std::optional<Standing>&& verdict) {
  ++used_;
  if (trial.run != run_) return;
  ++used_by_run_;
  founders_.returned(trial.founder);
  if (!verdict) return;
  convergence_.told(*verdict);
  const auto place = population_.alive(trial.place) ? trial.place : population_.worst();
  compete(place, std::move(trial), *verdict);
}

/// An equal trial takes the place as well, so that the population can cross plateaus.
void DifferentialEvolution::compete(std::size_t place, Trial&& trial, const Standing& standing) {
  if (population_.filled(place)) {
    const auto before = population_.standing(place);
    if (before.better_than(standing)) return;
    if (standing.better_than(before)) {
      archive_.add(population_.at(place), capacity(), random_);
      remember(trial, before, standing);
    }
  }
  population_.put(place, std::move(trial.x), standing);
}

void DifferentialEvolution::remember(const Trial& trial, const Standing& before, const Standing& now) {
  if (!trial.strategy) return;
  const double gain = before.value / 2 - now.value / 2;
  successes_.push_back({*trial.strategy, before.fate == now.fate ? gain : 0});
}

void DifferentialEvolution::invite_guests() {
  if (population_.order().empty()) return;
  for (auto& [x, standing] : guests_) {
    const auto worst = population_.worst();
    if (standing.better_than(population_.standing(worst))) population_.put(worst, std::move(x), standing);
  }
  guests_.clear();
}

bool DifferentialEvolution::converged() {
  const auto& order = population_.order();
  if (2 * order.size() < population_.size()) return false;
  std::vector<Standing> standings;
  std::vector<const Point*> points;
  for (const auto place : order) {
    standings.push_back(population_.standing(place));
    points.push_back(&population_.at(place));
  }
  return convergence_.over(space_, standings, points);
}

void DifferentialEvolution::end_generation() {
  invite_guests();
  memory_.learn(successes_);
  successes_.clear();
  if (converged()) {
    ++run_;
    return begin_run();
  }
  if (!population_.order().empty()) population_.shrink(plan_.population_at(used_by_run_));
  archive_.shrink(capacity(), random_);
  begin_generation(population_.size());
}
}  // namespace
}  // namespace de

OptimizerKind de_kind() {
  return {{.name = "de",
           .about = "differential evolution with restarts: one objective that may be rugged, parameters of any kind",
           .asynchronous = true,
           .options = {OptionRule::whole(
               "population",
               "number of points in the first population; the population then shrinks. After a restart, the new "
               "population is usually larger than the first one",
               4, 10000,
               "8 + 2 n for n parameters, but in asynchronous studies at least a quarter of the number of workers")}},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
            auto sizes = de::Plan::default_sizes(space.size());
            if (options.contains("population")) sizes.first = count_of(options, "population");
            return std::make_unique<de::DifferentialEvolution>(space, seed, sizes, terms);
          }};
}

}  // namespace culmen
