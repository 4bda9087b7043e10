// "nsga2": the elitist non-dominated sorting genetic algorithm for several objectives (Deb, Pratap, Agarwal and
// Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182), for every kind of space. No vector is tried twice while others
// can be found. Never finishes by itself.
//
// Without generations children are always born of the present population, and what was told competes with it whenever
// that is a tenth of it (as in its steady state: Durillo, Nebro, Luna and Alba, EMO 2009 p. 183). So that quick
// evaluations do not outrun slow ones, there are no children until most of the first are back (Founders).
#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <utility>

#include "culmen/optimizer/founders.hpp"
#include "culmen/optimizer/kinds.hpp"
#include "culmen/optimizer/nsga/variation.hpp"
#include "culmen/optimizer/population_search.hpp"
#include "culmen/optimizer/ranking.hpp"

namespace culmen {
namespace nsga {
namespace {
constexpr std::size_t steps_to_a_population = 10;  // without generations
constexpr int most_tries = 30;                     // until a vector is taken that was tried already

struct Member {
  Point genes;
  std::vector<double> x;
  Outcome outcome;
};

struct Trial {
  Member member;
  bool founder;
};

class Nsga2 final : public PopulationSearch<Trial, Outcome> {
 public:
  Nsga2(const Space& space, std::uint64_t seed, std::size_t population, const Terms& terms)
      : PopulationSearch(terms),
        space_(space),
        population_(population),
        random_(seed),
        variation_(space),
        founders_(population) {
    begin_generation(population_);
  }
  std::string name() const override { return "nsga2"; }
  void resize(std::size_t workers) override {
    if (!generational()) founders_.grow(workers);
  }
  void hear(const std::vector<double>& x, const Outcome& outcome) override {
    Member guest{Point(x.size()), x, rankable(outcome)};
    space_.to_unit(x, guest.genes);
    told_.push_back(std::move(guest));
  }

 private:
  Trial propose(std::vector<double>& x) override;
  Outcome verdict_of(const Outcome& outcome) const override { return rankable(outcome); }
  void absorb(Trial&& trial, std::optional<Outcome>&& verdict) override;
  void end_generation() override;
  Point anywhere();
  Point child();
  const Member& winner();
  bool tried(const std::vector<double>& x) const;

  const Space space_;
  const std::size_t population_;
  Random random_;
  const Variation variation_;
  Founders founders_;
  std::vector<Member> parents_;             // best first, none that failed
  std::vector<Member> told_;                // since parents changed
  std::optional<Point> sibling_;            // of the last child, to be tried next
  std::deque<std::vector<double>> recent_;  // the last vectors that were proposed
};

Trial Nsga2::propose(std::vector<double>& x) {
  Trial trial{{}, founders_.enlist()};
  const bool has_parents = founders_.settled() && !parents_.empty();
  x.resize(space_.size());
  for (int tries = 0; tries < most_tries && (tries == 0 || tried(x)); ++tries) {
    trial.member.genes = has_parents && 2 * tries < most_tries ? child() : anywhere();
    space_.from_unit(trial.member.genes, x);
  }
  trial.member.x = x;
  recent_.push_back(x);
  if (recent_.size() > 2 * population_) recent_.pop_front();
  return trial;
}

bool Nsga2::tried(const std::vector<double>& x) const {
  return std::ranges::find(parents_, x, &Member::x) != parents_.end() || std::ranges::find(recent_, x) != recent_.end();
}

Point Nsga2::anywhere() {
  Point out(space_.size());
  for (double& u : out) u = random_.uniform();
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (space_[i].discrete()) out[i] = (std::floor(out[i] * space_[i].cells()) + 0.5) / space_[i].cells();
  }
  return out;
}

Point Nsga2::child() {
  if (sibling_) return *std::exchange(sibling_, {});
  const auto& mother = winner().genes;
  auto [first, second] = variation_.children(mother, winner().genes, random_);
  sibling_ = std::move(second);
  return first;
}

/// Of two that are drawn; parents are in the order of fronts and crowding.
const Member& Nsga2::winner() {
  const auto a = random_.below(parents_.size()), b = random_.below(parents_.size());
  return parents_[std::min(a, b)];
}

void Nsga2::absorb(Trial&& trial, std::optional<Outcome>&& verdict) {
  founders_.returned(trial.founder);
  if (!verdict || !verdict->ok()) return;
  trial.member.outcome = std::move(*verdict);
  told_.push_back(std::move(trial.member));
}

void Nsga2::end_generation() {
  std::ranges::move(told_, std::back_inserter(parents_));
  told_.clear();
  std::erase_if(parents_, [](const Member& m) { return !m.outcome.ok(); });
  rank(parents_);
  if (parents_.size() > population_)
    parents_.erase(parents_.begin() + static_cast<std::ptrdiff_t>(population_), parents_.end());
  sibling_.reset();
  begin_generation(generational() ? population_ : population_ / steps_to_a_population);
}
}  // namespace
}  // namespace nsga

OptimizerKind nsga2_kind() {
  return {
      {.name = "nsga2",
       .about = "the genetic algorithm NSGA-II for several objectives, in every kind of space",
       .one_objective = false,
       .asynchronous = true,
       .options = {OptionRule::whole("population", "members, and candidates in a generation", 4, 10000,
                                     "100, or for several objectives 0.6 times the root of the budget (10 to 100)")}},
      [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
        const auto population = options.contains("population") ? count_of(options, "population") : 100;
        return std::make_unique<nsga::Nsga2>(space, seed, population, terms);
      }};
}

}  // namespace culmen
