// "swarm": particle swarm optimization in the unit cube: SPSO 2011 (Clerc, "Standard Particle Swarm Optimisation",
// hal-00764996 (2012); Zambrano-Bigiarini, Clerc and Rojas, CEC 2013 p. 2337). Runs with growing swarms follow each
// other. It never finishes by itself.
//
// Without generations each result enters its particle's memory at once. All particles get the same number of moves
// (RoundRobin), and none moves until most of the first results are back (Founders): otherwise quick evaluations would
// displace slow ones. At the start of a run there is at least one particle for four workers.
#include "culmen/optimizer/methods/swarm/swarm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/methods/swarm/neighbourhood.hpp"
#include "culmen/optimizer/methods/swarm/particle.hpp"
#include "culmen/optimizer/parts/convergence.hpp"
#include "culmen/optimizer/parts/founders.hpp"
#include "culmen/optimizer/parts/population_search.hpp"
#include "culmen/optimizer/parts/round_robin.hpp"

namespace culmen {
namespace swarm {
namespace {
constexpr std::uint64_t idle_generations = 100;   // then a run is given up
constexpr std::size_t workers_to_a_particle = 4;  // at most, when a run begins
constexpr unsigned most_doublings = 6;

std::size_t default_population(std::size_t parameters) {
  return 10 + static_cast<std::size_t>(2 * std::sqrt(static_cast<double>(parameters)));
}

struct Flight {
  unsigned run;
  std::size_t place;
  Point x;
  bool founder;
};

class Swarm final : public PopulationSearch<Flight, Standing> {
 public:
  Swarm(const Space& space, std::uint64_t seed, std::size_t population, const Terms& terms)
      : PopulationSearch(terms),
        space_(space),
        first_population_(population),
        random_(seed),
        convergence_(idle_generations) {
    begin_run();
  }
  bool begins_at_start() const override { return true; }
  std::string name() const override { return "swarm"; }
  void resize(std::size_t workers) override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  Flight propose(std::vector<double>& x) override;
  Standing verdict_of(const Outcome& outcome) const override { return Standing::of(outcome); }
  void absorb(Flight&& flight, std::optional<Standing>&& verdict) override;
  void end_generation() override;
  bool is_stale(const Flight& flight) const override { return flight.run != run_; }

  void begin_run();
  void add_particles(std::size_t count);
  bool converged();

  const Space space_;
  const std::size_t first_population_;
  Random random_;
  std::vector<Particle> particles_;
  Neighbourhood neighbourhood_;
  RoundRobin turns_;
  Founders founders_;
  Convergence convergence_;
  std::vector<std::pair<Point, Standing>> guests_;
  bool started_ = false, improved_ = false;
  unsigned run_ = 0;
  std::size_t workers_ = 0;
  std::uint64_t used_by_run_ = 0;
};

void Swarm::begin_run() {
  particles_.clear();
  turns_ = {};
  founders_ = Founders();
  convergence_ = Convergence(idle_generations);
  used_by_run_ = 0;
  add_particles(std::max(first_population_ << (run_ % (most_doublings + 1)), workers_ / workers_to_a_particle));
}

void Swarm::add_particles(std::size_t count) {
  particles_.resize(count);
  founders_.grow(count);
  neighbourhood_ = Neighbourhood(count, random_);
  improved_ = true;
  begin_generation(count);
}

void Swarm::resize(std::size_t workers) {
  if (generational()) return;
  workers_ = workers;
  const auto least = workers / workers_to_a_particle;
  if (used_by_run_ == 0 && least > particles_.size()) add_particles(least);
}

void Swarm::hear(const std::vector<double>& x, const Outcome& outcome) {
  guests_.push_back({Point(x.size()), Standing::of(outcome)});
  space_.to_unit(x, guests_.back().first);
}

Flight Swarm::propose(std::vector<double>& x) {
  const auto place = turns_.take(particles_.size(), [](std::size_t) { return true; });
  Flight flight{run_, place, {}, founders_.enlist()};
  auto& particle = particles_[place];
  x.resize(space_.size());
  if (!std::exchange(started_, true)) {
    x = space_.start();
    space_.rest_inactive(x);
    Point unit(x.size());
    space_.to_unit(x, unit);
    particle.place_at(std::move(unit), random_);
  } else {
    const auto& guide = particles_[neighbourhood_.best_informant(place, particles_)];
    if (!founders_.settled() || guide.best_standing.failed()) particle.place_anywhere(space_.size(), random_);
    else particle.move(guide, random_);
    space_.from_unit(particle.x, x);
  }
  flight.x = particle.x;
  return flight;
}

void Swarm::absorb(Flight&& flight, std::optional<Standing>&& verdict) {
  ++used_by_run_;
  founders_.returned(flight.founder);
  if (!verdict) return;
  improved_ |= convergence_.told(*verdict);
  particles_[flight.place].remember(std::move(flight.x), *verdict);
}

bool Swarm::converged() {
  std::vector<const Particle*> order;
  for (const auto& p : particles_) {
    if (!p.best.empty()) order.push_back(&p);
  }
  if (2 * order.size() < particles_.size()) return false;
  std::ranges::sort(
      order, [](const Particle* a, const Particle* b) { return a->best_standing.better_than(b->best_standing); });
  std::vector<Standing> standings;
  std::vector<const Point*> points;
  for (const auto* p : order) {
    standings.push_back(p->best_standing);
    points.push_back(&p->best);
  }
  return convergence_.over(space_, standings, points);
}

void Swarm::end_generation() {
  for (auto& [x, standing] : guests_) {
    const auto worst = std::ranges::max_element(
        particles_, [](const Particle& a, const Particle& b) { return a.best_standing.better_than(b.best_standing); });
    worst->remember(std::move(x), standing);
  }
  guests_.clear();
  if (converged()) {
    ++run_;
    return begin_run();
  }
  if (!std::exchange(improved_, false)) neighbourhood_ = Neighbourhood(particles_.size(), random_);
  begin_generation(particles_.size());
}
}  // namespace
}  // namespace swarm

OptimizerKind swarm_kind() {
  return {
      {.name = "swarm",
       .about = "particle swarm with restarts: one objective that may be rugged, numeric parameters",
       .needs_order = true,
       .asynchronous = true,
       .options = {OptionRule::whole(
           "population", "number of points in the swarm until the first restart; later swarms can be larger", 2, 10000,
           "10 + 2 √n for n parameters, but in asynchronous studies at least a quarter of the number of workers")}},
      [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
        const auto population =
            options.contains("population") ? count_of(options, "population") : swarm::default_population(space.size());
        return std::make_unique<swarm::Swarm>(space, seed, population, terms);
      }};
}

}  // namespace culmen
