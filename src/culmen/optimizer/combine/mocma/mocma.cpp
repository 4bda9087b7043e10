// "mocma": CMA-ES for two objectives and every kind of space. Every member of the front has its own step size and
// covariance; its children inherit them, and its successes change them (Igel, Hansen and Roth, Evol. Comput. 15 (2007)
// 1). A success is a child that enters the front (Voss, Hansen and Igel, GECCO 2010 p. 487). A fifth of the children
// come from the front's ends (Krause, Glasmachers, Hansen and Igel, GECCO 2016 p. 1177). New here are children between
// neighbours of the front with much room. After the first 200 n evaluations a share of the candidates goes to global
// searches of each single objective (as in HMO-CMA-ES: Loshchilov and Glasmachers, GECCO 2016 p. 1169). It never
// finishes by itself.
//
// Integers, ordinals and choices are inherited, and mutate as in NSGA-II. Without generations children always come from
// the current front. There are no children until most of the first results are back (Founders): otherwise quick
// evaluations would outrun slow ones.
#include "culmen/optimizer/combine/mocma/mocma.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/combine/mocma/ends.hpp"
#include "culmen/optimizer/combine/mocma/front.hpp"
#include "culmen/optimizer/parts/founders.hpp"
#include "culmen/optimizer/parts/genetic_variation.hpp"
#include "culmen/optimizer/parts/population_search.hpp"
#include "culmen/optimizer/parts/ranking.hpp"
#include "culmen/optimizer/parts/recent.hpp"

namespace culmen {
namespace mocma {
namespace {
constexpr double first_sigma = 0.2;           // of the unit cube
constexpr double share_between = 0.3;         // of children, between neighbours
constexpr double scale_between = 0.5;         // of their steps, because these come from two parents
constexpr double share_of_best = 0.2;         // of the others, of the best of an objective
constexpr std::uint64_t ends_begin_at = 200;  // evaluations for each parameter
constexpr double share_of_ends = 0.2;
constexpr int most_tries = 30;  // then a vector is taken although it was tried already

struct Newcomer {
  Member member = {};
  std::uint64_t parent = 0;  // 0: none
  bool between = false;      // of two parents: its result says nothing about the parent's steps
  Vector step = {};          // to it, in units of its sigma
  bool founder = false;
  std::optional<Ends::Given> end = {};
};

class Mocma final : public PopulationSearch<Newcomer, Outcome> {
 public:
  Mocma(const Space& space, std::uint64_t seed, std::size_t population, std::size_t children, const Terms& terms)
      : PopulationSearch(terms),
        space_(space),
        children_(children),
        random_(seed),
        variation_(space),
        front_(population),
        founders_(terms.mode == Mode::generational ? 1 : children),
        recent_(2 * population) {
    for (std::size_t i = 0; i < space.size(); ++i) (space[i].discrete() ? discrete_ : reals_).push_back(i);
    strategy_ = std::make_unique<Strategy>(reals_.size());
    if (terms.yield.objectives > 1) ends_ = std::make_unique<Ends>(space, seed, terms);
    begin_generation(children_);
  }
  std::string name() const override { return "mocma"; }
  void resize(std::size_t workers) override {
    if (generational()) return;
    founders_.grow(workers);
    if (ends_) ends_->resize(workers);
  }
  void hear(const std::vector<double>& x, const Outcome& outcome) override { welcome(x, rankable(outcome)); }

 private:
  Newcomer propose(std::vector<double>& x) override;
  Outcome verdict_of(const Outcome& outcome) const override { return rankable(outcome); }
  void absorb(Newcomer&& newcomer, std::optional<Outcome>&& verdict) override;
  void end_generation() override { begin_generation(children_); }
  std::function<Bytes()> do_job() override { return ends_ ? ends_->jobs().next() : nullptr; }
  void do_adopt(const Bytes& result) override { ends_->jobs().adopt(result); }
  void welcome(const std::vector<double>& x, Outcome&& outcome);
  void judge(Newcomer&& newcomer, Outcome&& outcome);
  Newcomer founder();
  Newcomer child();
  Newcomer child_of_two();
  Newcomer child_at(const Member& parent, Vector mean, double scale);

  const Space space_;
  const std::size_t children_;
  std::vector<std::size_t> reals_, discrete_;  // parameters
  Random random_;
  const GeneticVariation variation_;
  std::unique_ptr<Strategy> strategy_;
  Front front_;
  Founders founders_;
  Recent recent_;
  std::unique_ptr<Ends> ends_;
  std::uint64_t proposed_ = 0;
};

Newcomer Mocma::propose(std::vector<double>& x) {
  x.resize(space_.size());
  if (++proposed_ > ends_begin_at * space_.size() && ends_ && random_.uniform() < share_of_ends) {
    if (auto given = ends_->ask()) {
      x = given->x;
      return {.end = std::move(given)};
    }
  }
  const bool founds = founders_.enlist();
  const bool has_parents = founders_.settled() && !front_.empty();
  Newcomer newcomer;
  for (int tries = 0; tries < most_tries && (tries == 0 || (reals_.empty() && recent_.knows(x))); ++tries) {
    newcomer = has_parents && 2 * tries < most_tries ? child() : founder();
    space_.from_unit({newcomer.member.place.data(), space_.size()}, x);
  }
  if (reals_.empty()) recent_.note(x);
  newcomer.founder = founds;
  return newcomer;
}

/// The first one at the space's start, further ones anywhere.
Newcomer Mocma::founder() {
  Vector place(static_cast<Eigen::Index>(space_.size()));
  const auto start = space_.start();
  space_.to_unit(start, {place.data(), space_.size()});
  if (proposed_ > 1) {
    for (double& u : place) u = random_.uniform();
    for (const auto i : discrete_) {
      double& u = place[static_cast<Eigen::Index>(i)];
      u = middle_of_cell(space_[i], u);
    }
  }
  return {.member = strategy_->founder(std::move(place), first_sigma)};
}

Newcomer Mocma::child() {
  if (front_.size() > 1 && random_.uniform() < share_between) return child_of_two();
  const bool of_best = random_.uniform() < share_of_best || front_.size() < 3;
  const auto& first = front_.members().front().outcome;
  const auto& parent =
      of_best ? front_.best_of(random_.below(std::max<std::size_t>(1, first.values.size()))) : front_.roomy(random_);
  return child_at(parent, parent.place, 1);
}

Newcomer Mocma::child_of_two() {
  const auto [a, b] = front_.neighbours(random_);
  const double share = random_.uniform();
  const auto& nearer = share < 0.5 ? *a : *b;
  Vector mean = a->place + share * (b->place - a->place);
  for (const auto i : discrete_) {
    const auto k = static_cast<Eigen::Index>(i);
    mean[k] = random_.next() % 2 == 0 ? a->place[k] : b->place[k];
  }
  auto out = child_at(nearer, std::move(mean), scale_between);
  out.between = true;
  return out;
}

Newcomer Mocma::child_at(const Member& parent, Vector mean, double scale) {
  Newcomer out{.member = parent, .parent = parent.id};
  Vector normal(static_cast<Eigen::Index>(reals_.size()));
  for (double& z : normal) z = random_.normal();
  out.step = strategy_->step(parent, normal);
  const double length = scale * parent.sigma;
  for (std::size_t j = 0; j < reals_.size(); ++j) {
    double& u = mean[static_cast<Eigen::Index>(reals_[j])];
    double& step = out.step[static_cast<Eigen::Index>(j)];
    const double moved = std::clamp(u + length * step, 0.0, 1.0);
    step = (moved - u) / length;
    u = moved;
  }
  for (const auto i : discrete_) {
    double& u = mean[static_cast<Eigen::Index>(i)];
    if (random_.uniform() * static_cast<double>(discrete_.size()) < 1) u = variation_.changed(i, u, random_);
  }
  out.member.place = std::move(mean);
  return out;
}

void Mocma::absorb(Newcomer&& newcomer, std::optional<Outcome>&& verdict) {
  if (newcomer.end) {
    ends_->settle(*newcomer.end, verdict);
    if (verdict) welcome(newcomer.end->x, std::move(*verdict));
    return;
  }
  founders_.returned(newcomer.founder);
  if (verdict) judge(std::move(newcomer), std::move(*verdict));
}

void Mocma::judge(Newcomer&& newcomer, Outcome&& outcome) {
  const auto parent = newcomer.parent;
  const bool tells = parent != 0 && !newcomer.between;
  bool success = outcome.ok() && front_.admits(outcome);
  if (success) {
    newcomer.member.outcome = std::move(outcome);
    if (parent != 0) {
      strategy_->adapt(newcomer.member, true);
      strategy_->learn(newcomer.member, newcomer.step);
    }
    success = front_.add(std::move(newcomer.member));
  }
  if (auto* found = tells ? front_.find(parent) : nullptr) strategy_->adapt(*found, success);
}

/// It gets the steps of the nearest member.
void Mocma::welcome(const std::vector<double>& x, Outcome&& outcome) {
  if (!outcome.ok() || !front_.admits(outcome)) return;
  Vector place(static_cast<Eigen::Index>(space_.size()));
  space_.to_unit(x, {place.data(), space_.size()});
  Member guest = strategy_->founder({}, first_sigma);
  if (!front_.empty()) {
    guest = *std::ranges::min_element(front_.members(), {},
                                      [&](const Member& m) { return (m.place - place).squaredNorm(); });
  }
  guest.place = std::move(place);
  guest.outcome = std::move(outcome);
  front_.add(std::move(guest));
}
}  // namespace
}  // namespace mocma

OptimizerKind mocma_kind() {
  return {{.name = "mocma",
           .about = "CMA-ES for two objectives, parameters of any kind",
           .one_objective = false,
           .two_objectives = true,
           .asynchronous = true,
           .options = {OptionRule::whole("children", "number of candidates in a generation", 1, 10000, 10),
                       OptionRule::whole("population", "largest number of points in the population", 4, 10000, 100)}},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
            return std::make_unique<mocma::Mocma>(space, seed, count_of(options, "population"),
                                                  count_of(options, "children"), terms);
          }};
}

}  // namespace culmen
