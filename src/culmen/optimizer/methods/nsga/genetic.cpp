// "nsga2", "nsga3" and "sms_emoa": elitist genetic algorithms for several objectives and every kind of space. They
// differ in which members survive (Survival). No vector is tried twice as long as others can be found. They never
// finish by themselves.
//
// Without generations children always come from the current population. Results compete with it whenever their number
// reaches a tenth of it (as in NSGA-II's steady state: Durillo, Nebro, Luna and Alba, EMO 2009 p. 183). There are no
// children until most of the first results are back (Founders): otherwise quick evaluations would outrun slow ones.
#include "culmen/optimizer/methods/nsga/genetic.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "culmen/optimizer/methods/nsga/survival.hpp"
#include "culmen/optimizer/parts/founders.hpp"
#include "culmen/optimizer/parts/genetic_variation.hpp"
#include "culmen/optimizer/parts/population_search.hpp"
#include "culmen/optimizer/parts/population_size.hpp"
#include "culmen/optimizer/parts/ranking.hpp"
#include "culmen/optimizer/parts/recent.hpp"

namespace culmen {
namespace nsga {
namespace {
constexpr std::size_t steps_to_a_population = 10;  // without generations
constexpr int most_tries = 30;                     // then a vector is taken although it was tried already

struct Member {
  std::vector<double> genes;
  std::vector<double> x;
  Outcome outcome;
};

struct Offspring {
  Member member;
  bool founder;
};

class Genetic final : public PopulationSearch<Offspring, Outcome> {
 public:
  Genetic(std::string name, const Space& space, std::uint64_t seed, std::size_t population,
          std::unique_ptr<Survival> survival, const Terms& terms)
      : PopulationSearch(terms),
        name_(std::move(name)),
        space_(space),
        population_(population),
        random_(seed),
        variation_(space),
        survival_(std::move(survival)),
        founders_(population),
        recent_(2 * population) {
    begin_generation(population_);
  }
  std::string name() const override { return name_; }
  void resize(std::size_t workers) override {
    if (!generational()) founders_.grow(workers);
  }
  void hear(const std::vector<double>& x, const Outcome& outcome) override {
    Member guest{std::vector<double>(x.size()), x, rankable(outcome)};
    space_.to_unit(x, guest.genes);
    told_.push_back(std::move(guest));
  }

 private:
  Offspring propose(std::vector<double>& x) override;
  Outcome verdict_of(const Outcome& outcome) const override { return rankable(outcome); }
  void absorb(Offspring&& offspring, std::optional<Outcome>&& verdict) override;
  void end_generation() override;
  std::vector<double> anywhere();
  std::vector<double> child();
  const Member& winner();
  bool tried(const std::vector<double>& x) const;

  const std::string name_;
  const Space space_;
  const std::size_t population_;
  Random random_;
  const GeneticVariation variation_;
  const std::unique_ptr<Survival> survival_;
  Founders founders_;
  std::vector<Member> parents_;                 // best first, none that failed
  std::vector<Member> told_;                    // since parents changed
  std::optional<std::vector<double>> sibling_;  // of the last child, to be tried next
  Recent recent_;
};

Offspring Genetic::propose(std::vector<double>& x) {
  Offspring offspring{{}, founders_.enlist()};
  const bool has_parents = founders_.settled() && !parents_.empty();
  x.resize(space_.size());
  for (int tries = 0; tries < most_tries && (tries == 0 || tried(x)); ++tries) {
    offspring.member.genes = has_parents && 2 * tries < most_tries ? child() : anywhere();
    space_.from_unit(offspring.member.genes, x);
  }
  offspring.member.x = x;
  recent_.note(x);
  return offspring;
}

bool Genetic::tried(const std::vector<double>& x) const {
  return std::ranges::find(parents_, x, &Member::x) != parents_.end() || recent_.knows(x);
}

std::vector<double> Genetic::anywhere() {
  std::vector<double> out(space_.size());
  for (double& u : out) u = random_.uniform();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (space_[i].discrete()) out[i] = middle_of_cell(space_[i], out[i]);
  }
  return out;
}

std::vector<double> Genetic::child() {
  if (sibling_) return *std::exchange(sibling_, {});
  const auto& mother = winner().genes;
  auto [first, second] = variation_.children(mother, winner().genes, random_);
  sibling_ = std::move(second);
  return first;
}

/// The better one of two random members.
const Member& Genetic::winner() {
  const auto a = random_.below(parents_.size());
  if (!survival_->ranks()) return parents_[a];
  return parents_[std::min(a, random_.below(parents_.size()))];
}

void Genetic::absorb(Offspring&& offspring, std::optional<Outcome>&& verdict) {
  founders_.returned(offspring.founder);
  if (!verdict || !verdict->ok()) return;
  offspring.member.outcome = std::move(*verdict);
  told_.push_back(std::move(offspring.member));
}

void Genetic::end_generation() {
  std::ranges::move(told_, std::back_inserter(parents_));
  told_.clear();
  std::erase_if(parents_, [](const Member& m) { return !m.outcome.ok(); });
  std::vector<const Outcome*> outcomes;
  for (const auto& m : parents_) outcomes.push_back(&m.outcome);
  std::vector<Member> staying;
  for (const auto a : survival_->select(outcomes, population_)) staying.push_back(std::move(parents_[a]));
  parents_ = std::move(staying);
  sibling_.reset();
  begin_generation(generational() ? population_ : population_ / steps_to_a_population);
}

using MakeSurvival = std::function<std::unique_ptr<Survival>(std::uint64_t seed, std::size_t population, const Terms&)>;

OptimizerKind genetic_kind(const std::string& name, std::string about, const MakeSurvival& survival) {
  return {
      {.name = name,
       .about = std::move(about),
       .one_objective = false,
       .asynchronous = true,
       .options = {OptionRule::whole("population", "size of the population, and number of candidates in a generation",
                                     4, 10000, "10 to 100, depending on the limit on evaluations")}},
      [name, survival](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
        const auto population =
            options.contains("population") ? count_of(options, "population") : population_for_several(terms);
        return std::make_unique<Genetic>(name, space, seed, population, survival(seed, population, terms), terms);
      }};
}
}  // namespace
}  // namespace nsga

OptimizerKind nsga2_kind() {
  return nsga::genetic_kind("nsga2", "the genetic algorithm NSGA-II: several objectives, parameters of any kind",
                            [](auto&&...) { return nsga::by_crowding(); });
}

OptimizerKind nsga3_kind() {
  return nsga::genetic_kind("nsga3", "the genetic algorithm NSGA-III: three or more objectives, parameters of any kind",
                            [](std::uint64_t seed, std::size_t population, const Terms& terms) {
                              return nsga::by_directions(seed, std::max<std::size_t>(2, terms.yield.objectives),
                                                         population);
                            });
}

OptimizerKind sms_emoa_kind() {
  return nsga::genetic_kind(
      "sms_emoa",
      "the genetic algorithm SMS-EMOA, which maximizes the hypervolume: several objectives, parameters of any kind",
      [](std::uint64_t seed, auto&&...) { return nsga::by_hypervolume(seed); });
}

}  // namespace culmen
