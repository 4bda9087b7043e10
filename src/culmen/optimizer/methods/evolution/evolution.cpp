// "evolution": an evolutionary algorithm for every kind of space: μ parents have λ children, and the next parents are
// chosen from the children and the parents. The modes of selection and duplication follow the tradition of evolution
// strategies (Beyer and Schwefel, Natural Computing 1 (2002) 3) and of Geneva (Berlich, Garcia and Gabriel 2010). It
// never finishes by itself: if one objective no longer falls, a new population begins.
//
// Without generations children always come from the current parents. With "plus" and one objective these change with
// each child that is told, otherwise after every λ children. There are at least as many founders as workers, and no
// children until most founders are back (Founders): otherwise quick evaluations would outrun slow ones.
#include "culmen/optimizer/methods/evolution/evolution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/methods/evolution/variation.hpp"
#include "culmen/optimizer/parts/founders.hpp"
#include "culmen/optimizer/parts/population_search.hpp"
#include "culmen/optimizer/parts/population_size.hpp"
#include "culmen/optimizer/parts/ranking.hpp"

namespace culmen {
namespace evolution {
namespace {
enum class Selection : unsigned char {
  plus,       ///< from parents and children
  comma,      ///< from the children
  keep_best,  ///< from the children and the best parent
};
enum class Duplication : unsigned char {
  random,  ///< every parent is equally likely
  value,   ///< better parents are more likely: as 1 / (rank + 1)
};

struct Settings {
  std::size_t parents, children;
  Selection selection;
  Duplication duplication;
  Crossover crossover;
};

struct Child {
  unsigned population;
  Individual individual;
  bool founder;
};

class Evolution final : public PopulationSearch<Child, Outcome> {
 public:
  Evolution(const Space& space, std::uint64_t seed, const Settings& settings, const Terms& terms)
      : PopulationSearch(terms),
        space_(space),
        settings_(settings),
        steady_(terms.mode == Mode::asynchronous && terms.yield.objectives <= 1 &&
                settings.selection == Selection::plus),
        random_(seed),
        variation_(space, settings.crossover) {
    begin_population();
  }
  std::string name() const override { return "evolution"; }
  void resize(std::size_t workers) override {
    if (generational()) return;
    workers_ = workers;
    founders_.grow(workers);
  }
  void hear(const std::vector<double>& x, const Outcome& outcome) override {
    guests_.push_back(individual_at(space_, x));
    guests_.back().outcome = verdict_of(outcome);
  }

 private:
  Child propose(std::vector<double>& x) override;
  Outcome verdict_of(const Outcome& outcome) const override { return rankable(outcome); }
  void absorb(Child&& child, std::optional<Outcome>&& verdict) override;
  void end_generation() override;
  bool is_stale(const Child& child) const override { return child.population != population_; }
  std::size_t first_generation() const { return std::max(settings_.parents, settings_.children); }
  void begin_population();
  void select();
  void admit(Individual&& individual);
  bool stagnated();
  const Individual& draw_parent();

  const Space space_;
  const Settings settings_;
  const bool steady_;  // each child competes with the parents as it is told
  Random random_;
  const Variation variation_;
  std::vector<Individual> parents_;  // best first
  std::vector<Individual> members_;  // told, for the next selection
  std::vector<Individual> guests_;   // heard of, for the next selection
  unsigned population_ = 0;
  Founders founders_;
  std::size_t workers_ = 0;
  bool founded_ = false;  // its first generation is over
  Outcome best_;          // of this population
  std::size_t idle_generations_ = 0;
};

void Evolution::begin_population() {
  parents_.clear();
  members_.clear();
  idle_generations_ = 0;
  founders_ = Founders(std::max(first_generation(), workers_));
  founded_ = false;
  best_ = Outcome::failure(Status::failed, {});
  begin_generation(first_generation());
}

Child Evolution::propose(std::vector<double>& x) {
  Child child{population_, {}, founders_.enlist()};
  if (founders_.settled() && !parents_.empty()) {
    const auto& parent = draw_parent();
    child.individual = variation_.child(parent, draw_parent(), random_);
  } else {
    child.individual = random_individual(space_, random_);
  }
  x = vector_of(space_, child.individual);
  return child;
}

void Evolution::absorb(Child&& child, std::optional<Outcome>&& verdict) {
  founders_.returned(child.founder);
  child.individual.outcome = verdict ? std::move(*verdict) : Outcome::failure(Status::failed, {});
  if (steady_) return admit(std::move(child.individual));
  members_.push_back(std::move(child.individual));
}

void Evolution::end_generation() {
  if (steady_) {
    for (auto& guest : guests_) admit(std::move(guest));
    guests_.clear();
  } else {
    select();
  }
  if (stagnated()) {
    ++population_;
    return begin_population();
  }
  begin_generation(settings_.children);
}

/// Plus selection of one child.
void Evolution::admit(Individual&& individual) {
  if (!individual.outcome.ok() && !parents_.empty()) return;
  const auto after = std::ranges::upper_bound(parents_, individual.outcome, &better, &Individual::outcome);
  if (after == parents_.end() && parents_.size() == settings_.parents) return;
  parents_.insert(after, std::move(individual));
  if (parents_.size() > settings_.parents) parents_.pop_back();
}

void Evolution::select() {
  const bool first = !std::exchange(founded_, true);
  std::ranges::move(guests_, std::back_inserter(members_));
  guests_.clear();
  rank(members_);
  if (!first && settings_.selection != Selection::comma) {
    const auto kept =
        settings_.selection == Selection::plus ? parents_.size() : std::min<std::size_t>(1, parents_.size());
    members_.insert(members_.begin(), parents_.begin(), parents_.begin() + static_cast<std::ptrdiff_t>(kept));
    rank(members_);
  }
  if (first || std::ranges::any_of(members_, [](const Individual& m) { return m.outcome.ok(); }))
    parents_.assign(members_.begin(),
                    members_.begin() + static_cast<std::ptrdiff_t>(std::min(settings_.parents, members_.size())));
  members_.clear();
}

/// Only differences of values count, so a constant added to the objective changes nothing.
bool Evolution::stagnated() {
  if (parents_.empty()) return false;
  const auto& now = parents_.front().outcome;
  if (now.values.size() > 1) return false;
  idle_generations_ = better(now, best_) ? 0 : idle_generations_ + 1;
  if (idle_generations_ == 0) best_ = now;
  return idle_generations_ > 30 + 10 * space_.size();
}

const Individual& Evolution::draw_parent() {
  if (settings_.duplication == Duplication::random) return parents_[random_.below(parents_.size())];
  double all = 0;
  for (std::size_t k = 0; k < parents_.size(); ++k) all += 1 / static_cast<double>(k + 1);
  double left = all * random_.uniform();
  for (std::size_t k = 0; k + 1 < parents_.size(); ++k) {
    left -= 1 / static_cast<double>(k + 1);
    if (left < 0) return parents_[k];
  }
  return parents_.back();
}

template <typename E>
struct Words {
  std::vector<std::pair<std::string, E>> all;  // the first is the standard

  OptionRule rule(std::string name, std::string about) const {
    std::vector<std::string> words;
    for (const auto& [word, value] : all) words.push_back(word);
    return OptionRule::word(std::move(name), std::move(about), words, words.front());
  }
  E at(const std::string& word) const {
    return std::ranges::find(all, word, &std::pair<std::string, E>::first)->second;
  }
};

const Words<Selection> selections{
    {{"plus", Selection::plus}, {"comma", Selection::comma}, {"keep_best", Selection::keep_best}}};
const Words<Duplication> duplications{{{"random", Duplication::random}, {"value", Duplication::value}}};
const Words<Crossover> crossovers{
    {{"discrete", Crossover::discrete}, {"intermediate", Crossover::intermediate}, {"none", Crossover::none}}};

Settings settings_of(const OptimizerOptions& options, const Terms& terms) {
  const bool several = terms.yield.objectives > 1;
  const auto count = [&](const std::string& name, std::size_t otherwise) {
    return options.contains(name) ? count_of(options, name) : otherwise;
  };
  const auto population = population_for_several(terms);
  const auto parents = count("parents", several ? population : 7);
  const auto children = count("children", several ? std::max(population, parents) : 42);
  const auto selection = selections.at(word_of(options, "selection"));
  if (selection == Selection::comma && children < parents)
    throw InputError(
        fmt::format("optimizer 'evolution': selection \"comma\" takes the next {} parents from {} children; give "
                    "children ≥ parents",
                    parents, children));
  return {parents, children, selection, duplications.at(word_of(options, "duplication")),
          crossovers.at(word_of(options, "crossover"))};
}
}  // namespace
}  // namespace evolution

OptimizerKind evolution_kind() {
  using namespace evolution;
  return {
      {.name = "evolution",
       .about = "evolution strategy: parameters of any kind, conditions, one or several objectives",
       .one_objective = false,
       .asynchronous = true,
       .options = {OptionRule::whole(
                       "children", "number of candidates in a generation", 1, 1e6,
                       "42, but with several objectives 10 to 100, depending on the limit on evaluations"),
                   crossovers.rule(
                       "crossover",
                       "discrete: each parameter has the value of one of two parents; intermediate: real parameters "
                       "get values between those of two parents; none: a candidate has only one parent"),
                   duplications.rule("duplication",
                                     "choice of the parents of a candidate; random: all parents are equally likely; "
                                     "value: better parents are more likely"),
                   OptionRule::whole("parents", "number of points that are kept as parents", 1, 1e6,
                                     "7, but with several objectives 10 to 100, depending on the limit on evaluations"),
                   selections.rule("selection",
                                   "the next parents are chosen from parents and children (plus), from children "
                                   "(comma), or from children and the best parent (keep_best)")}},
      [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
        return std::make_unique<Evolution>(space, seed, settings_of(options, terms), terms);
      }};
}

}  // namespace culmen
