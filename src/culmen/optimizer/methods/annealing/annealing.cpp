// "annealing": simulated annealing in parallel chains, for every kind of space. Each chain is a Metropolis walk (Walk).
// The chains form a ladder of temperatures and exchange places (parallel tempering: Geyer 1991; Hukushima and Nemoto,
// J. Phys. Soc. Jpn. 65 (1996) 1604) while all of them cool down (Cooling). The first temperature is the spread of the
// first values. It never finishes by itself: when it is cold, it is heated again at the best place.
//
// Without generations each result enters its walk at once. A walk that is asked again before that looks again from its
// current place. All walks get the same number of looks (RoundRobin), and none moves until most of the first results
// are back (Founders): otherwise quick evaluations would displace slow ones. At the start there is at least one walk
// for two workers: of many looks from one place the quickest would count too often.
#include "culmen/optimizer/methods/annealing/annealing.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/methods/annealing/metropolis.hpp"
#include "culmen/optimizer/methods/annealing/walk.hpp"
#include "culmen/optimizer/parts/founders.hpp"
#include "culmen/optimizer/parts/population_search.hpp"
#include "culmen/optimizer/parts/round_robin.hpp"

namespace culmen {
namespace annealing {
namespace {

constexpr std::size_t least_founders = 8, workers_to_a_walk = 2;
constexpr double first_temperature = 0.1;  // of the spread
constexpr double ladder = 8;               // from the coldest to the hottest

struct Proposal {
  std::size_t walk;
  Look look;
  bool founder, settled;  // settled: a look from the walk's place; otherwise from anywhere
};

class Annealing final : public PopulationSearch<Proposal, Standing> {
 public:
  Annealing(const Space& space, std::uint64_t seed, std::size_t chains, const Terms& terms)
      : PopulationSearch(terms), space_(space), random_(seed), cooling_(space.size(), terms.evaluations) {
    add_walks(chains);
    begin_generation(std::max(chains, least_founders));
  }
  bool begins_at_start() const override { return true; }
  std::string name() const override { return "annealing"; }
  void resize(std::size_t workers) override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  Proposal propose(std::vector<double>& x) override;
  Standing verdict_of(const Outcome& outcome) const override { return Standing::of(outcome); }
  void absorb(Proposal&& proposal, std::optional<Standing>&& verdict) override;
  void end_generation() override;
  void add_walks(std::size_t chains);
  void reheat();
  double temperature(std::size_t walk) const;

  const Space space_;
  Random random_;
  std::vector<Walk> walks_;  // the coldest first
  Founders founders_;
  RoundRobin turns_;
  Spread spread_;
  Cooling cooling_;
  std::vector<std::pair<Individual, Standing>> guests_;
  std::optional<std::pair<Individual, Standing>> best_;
  bool started_ = false, absorbed_ = false;
};

void Annealing::add_walks(std::size_t chains) {
  while (walks_.size() < chains) walks_.emplace_back(individual_at(space_, space_.start()));
  founders_.grow(std::max(chains, least_founders));
}

void Annealing::resize(std::size_t workers) {
  if (!generational() && !absorbed_) add_walks(workers / workers_to_a_walk);
}

void Annealing::hear(const std::vector<double>& x, const Outcome& outcome) {
  guests_.emplace_back(individual_at(space_, x), Standing::of(outcome));
}

double Annealing::temperature(std::size_t walk) const {
  const double height = static_cast<double>(walk) / static_cast<double>(std::max<std::size_t>(2, walks_.size()) - 1);
  return first_temperature * spread_.value() * cooling_.share() * std::pow(ladder, height);
}

Proposal Annealing::propose(std::vector<double>& x) {
  const auto place = turns_.take(walks_.size(), [](std::size_t) { return true; });
  const auto& walk = walks_[place];
  Proposal proposal{place, {}, founders_.enlist(), founders_.settled() && !walk.standing().failed()};
  if (proposal.settled) proposal.look = walk.look(space_, random_);
  else proposal.look.at = started_ ? random_individual(space_, random_) : walk.at();
  started_ = true;
  x = vector_of(space_, proposal.look.at);
  return proposal;
}

void Annealing::absorb(Proposal&& proposal, std::optional<Standing>&& verdict) {
  absorbed_ = true;
  founders_.returned(proposal.founder);
  const bool cold = cooling_.step();
  if (verdict) {
    if (verdict->ok()) spread_.add(verdict->value);
    if (!best_ || verdict->better_than(best_->second)) best_ = {Individual{proposal.look.at.genes, {}}, *verdict};
    auto& walk = walks_[proposal.walk];
    if (proposal.settled) walk.saw(std::move(proposal.look), *verdict, temperature(proposal.walk), space_, random_);
    else if (verdict->better_than(walk.standing())) walk.place(proposal.look.at, *verdict, false);
  }
  if (cold) reheat();
}

/// All walks start again at the best place.
void Annealing::reheat() {
  if (!best_ || best_->second.failed()) return;
  auto at = individual_at(space_, vector_of(space_, best_->first));
  at.genes = best_->first.genes;
  for (auto& walk : walks_) walk.place(at, best_->second, true);
}

void Annealing::end_generation() {
  for (auto& [at, standing] : guests_) {
    if (!best_ || standing.better_than(best_->second)) best_ = {at, standing};
    auto& coldest = walks_.front();
    if (standing.better_than(coldest.standing())) coldest.place(at, standing, false);
  }
  guests_.clear();
  for (std::size_t k = walks_.size() - 1; k > 0; --k) {
    if (exchanges(walks_[k - 1].standing(), walks_[k].standing(), temperature(k - 1), temperature(k),
                  random_.uniform()))
      walks_[k - 1].exchange(walks_[k]);
  }
  begin_generation(walks_.size());
}
}  // namespace
}  // namespace annealing

OptimizerKind annealing_kind() {
  return {
      {.name = "annealing",
       .about = "simulated annealing in parallel chains: one objective, parameters of any kind",
       .asynchronous = true,
       .options = {OptionRule::whole("chains",
                                     "number of searches in parallel; in generational studies, each search evaluates "
                                     "one candidate at a time",
                                     1, 10000, 4)}},
      [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
        return std::make_unique<annealing::Annealing>(space, seed, count_of(options, "chains"), terms);
      }};
}

}  // namespace culmen
