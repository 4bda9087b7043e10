// "racing": the best of candidates whose values have noise (F-race: Birattari, Stützle, Paquete and Varrentrapp, GECCO
// 2002; successive halving: Jamieson and Talwalkar, AISTATS 2016). It is iterated if the space has more points than
// race at a time (López-Ibáñez et al., Operations Research Perspectives 3 (2016) 43). Finishes by itself.
//
// Without generations a second worker does not repeat an evaluation only because it takes long. The first of several
// results would be the quickest, and if values are run times, a score would be the least of several draws. If workers
// are left when all rounds are out, they evaluate without effect. An evaluation is repeated only if it has been out ten
// times the mean duration and three times the longest so far, because it may never come. The first result then counts,
// which affects only the far tail of durations. Nor can a member be repeated until it is quick: after a few of its
// rounds the patience with it doubles each time.
#include "culmen/optimizer/methods/racing/racing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>

#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/methods/racing/field.hpp"
#include "culmen/optimizer/methods/racing/race.hpp"
#include "culmen/optimizer/parts/moments.hpp"

namespace culmen {
namespace racing {
namespace {
struct Entrant {
  std::vector<double> x;
  Moments before = {};  // in earlier races
};

// Time is counted in results: while as many results come as evaluations are open, the mean duration passes.
constexpr double patience = 10;           // in mean durations
constexpr double longest_patience = 3;    // in longest ones
constexpr std::size_t usual_losses = 10;  // one in this many of a member; each further one doubles the patience with it

struct Plan {
  Rules rules;
  std::size_t candidates, races;
};

/// One evaluation of a member.
struct Repetition {
  std::size_t race, member, number;
  std::uint64_t told = 0;  // results before it was given
  bool repeated = false;
};

/// The data that shows that an evaluation may never come back.
struct Waiting {
  std::uint64_t told = 0;           // results so far
  std::uint64_t longest = 0;        // in results, from ask to tell
  std::vector<EvaluationId> given;  // in this race, of those that count; without generations
  std::vector<std::size_t> lost;    // by member: how many were repeated
};

/// The best outcome that was heard of without being asked for.
struct Heard {
  Outcome outcome = Outcome::failure(Status::failed, {});
  std::vector<double> x;
};

class Racing final : public Remembering<Repetition> {
 public:
  Racing(const Space& space, std::uint64_t seed, const Plan& plan, Mode mode)
      : space_(space), plan_(plan), mode_(mode), field_(space, seed, plan.races), order_(seed, 1) {
    auto all = all_points(space, plan.candidates);
    races_ = all ? 1 : plan.races;
    if (has_default_) {
      auto start = space.start();
      space.rest_inactive(start);
      entrants_.push_back({std::move(start)});
    }
    for (auto& x : all.value_or(std::vector<std::vector<double>>{}))
      if (!has_default_ || x != entrants_[0].x) entrants_.push_back({std::move(x)});
    if (!all) fill();
    begin_race();
  }
  Mode mode() const override { return mode_; }
  bool ends_by_itself() const override { return true; }
  bool begins_at_start() const override { return space_.has_start(); }
  bool finished() const override { return race_number_ == races_; }
  std::string name() const override { return "racing"; }
  std::string remark() const override;
  std::optional<Recommendation> recommendation() const override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override {
    if (races_ == 1 || !better(outcome, heard_.outcome)) return;
    heard_.outcome = Outcome::of_value(outcome.value);
    heard_.outcome.violation = outcome.violation;
    heard_.x = x;
  }

 private:
  void fill();
  void begin_race();
  void end_race();
  bool begin_round();
  bool seems_lost(const Repetition& repetition) const;
  bool repeat_what_is_lost();
  bool spare(const Repetition& repetition) const { return repetition.number >= plan_.rules.most_rounds; }
  bool wanted(const Repetition& repetition) const {
    return repetition.race == race_number_ && race_->survives(repetition.member) &&
           !race_->has(repetition.member, repetition.number);
  }
  bool counts(const Repetition& repetition) const { return wanted(repetition) && !spare(repetition); }
  std::size_t elites() const { return 1 + static_cast<std::size_t>(std::bit_width(space_.size())); }
  Moments moments(std::size_t member) const;
  std::size_t leader() const;

  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId id, Repetition&& repetition, const Outcome& outcome) override;
  void do_cancel(EvaluationId id, Repetition&& repetition) override;

  const Space space_;
  const Plan plan_;
  const Mode mode_;
  Field field_;
  Random order_;
  bool has_default_ = space_.has_start();  // entrants_[0] then
  std::size_t races_ = 1, race_number_ = 0, rounds_begun_ = 0;
  std::vector<Entrant> entrants_;
  std::size_t elites_here_ = 0;  // entrants from the last race, before the new ones
  std::optional<Race> race_;
  std::deque<Repetition> due_;
  Waiting waiting_;
  Heard heard_;
};

void Racing::fill() {
  std::vector<std::vector<double>> points;
  for (const auto& entrant : entrants_) points.push_back(entrant.x);
  if (!heard_.x.empty() && std::ranges::find(points, heard_.x) == points.end()) points.push_back(heard_.x);
  field_.fill(points, plan_.candidates, race_number_);
  for (std::size_t k = entrants_.size(); k < points.size(); ++k) entrants_.push_back({std::move(points[k])});
}

void Racing::begin_race() {
  auto rules = plan_.rules;
  if (race_number_ + 1 < races_) {
    rules.wanted = elites();
    rules.rounds_to_confirm = 0;
  }
  race_.emplace(entrants_.size(), has_default_, rules);
  rounds_begun_ = 0;
  due_.clear();
  waiting_.given.clear();
  waiting_.lost.assign(entrants_.size(), 0);
}

void Racing::end_race() {
  due_.clear();
  if (race_number_ + 1 == races_) {
    ++race_number_;
    return;
  }
  auto best = race_->order();
  if (best.size() > elites()) best.resize(elites());
  std::vector<Entrant> next;
  for (const auto member : best) next.push_back({entrants_[member].x, moments(member)});
  has_default_ = has_default_ && race_->survives(0);
  entrants_ = std::move(next);
  elites_here_ = entrants_.size();
  ++race_number_;
  fill();
  begin_race();
}

/// The default is the very first candidate. After that, a round's order is random, so that no member is always early.
bool Racing::begin_round() {
  if (generational() && race_->complete() < rounds_begun_) return false;
  if (rounds_begun_ >= plan_.rules.most_rounds && repeat_what_is_lost()) return true;
  auto members = race_->survivors();
  const std::size_t fixed = has_default_ && race_number_ == 0 && rounds_begun_ == 0 ? 1 : 0;
  for (std::size_t k = members.size(); k > fixed + 1; --k)
    std::swap(members[k - 1], members[fixed + order_.below(k - fixed)]);
  for (const auto member : members) due_.push_back({race_number_, member, rounds_begun_});
  ++rounds_begun_;
  return true;
}

/// Whether an evaluation is so late that its result may never come. A member that loses many evaluations is probably
/// just slow.
bool Racing::seems_lost(const Repetition& repetition) const {
  const auto mean = static_cast<double>(std::max(memos().size(), race_->survivors().size()));
  const auto allowed = plan_.rules.most_rounds / usual_losses;
  const auto beyond = waiting_.lost[repetition.member] - std::min(allowed, waiting_.lost[repetition.member]);
  const double enough = std::max(patience * mean, longest_patience * static_cast<double>(waiting_.longest));
  return static_cast<double>(waiting_.told - repetition.told) >= std::ldexp(enough, static_cast<int>(beyond));
}

bool Racing::repeat_what_is_lost() {
  std::vector<EvaluationId> kept;
  for (const auto id : waiting_.given) {
    const auto found = memos().find(id);
    if (found == memos().end() || !counts(found->second)) continue;
    auto& repetition = found->second;
    if (!seems_lost(repetition)) {
      kept.push_back(id);
      continue;
    }
    due_.push_back(repetition);
    repetition.repeated = true;
    ++waiting_.lost[repetition.member];
  }
  waiting_.given = std::move(kept);
  return !due_.empty();
}

void Racing::do_ask(std::size_t n, Asked& out) {
  while (n > 0 && !finished()) {
    if (due_.empty() && !begin_round()) return;
    auto repetition = due_.front();
    due_.pop_front();
    if (!wanted(repetition)) continue;
    repetition.told = waiting_.told;
    const auto id = out.give(entrants_[repetition.member].x, repetition);
    if (!generational() && !spare(repetition)) waiting_.given.push_back(id);
    --n;
  }
}

void Racing::do_tell(EvaluationId, Repetition&& repetition, const Outcome& outcome) {
  waiting_.longest = std::max(waiting_.longest, ++waiting_.told - repetition.told);
  if (!counts(repetition)) return;
  race_->note(repetition.member, repetition.number, outcome);
  const bool within_round = !due_.empty() || race_->complete() < rounds_begun_;
  if (race_->over() && !(generational() && within_round)) end_race();
}

void Racing::do_cancel(EvaluationId, Repetition&& repetition) {
  if (counts(repetition) && !repetition.repeated) due_.push_back(repetition);
}

Moments Racing::moments(std::size_t member) const {
  auto all = entrants_[member].before;
  for (const auto& score : race_->scores(member))
    if (score.feasible()) all.add(score.value);
  return all;
}

/// Before the first test of a later race a newcomer that leads would only be lucky.
std::size_t Racing::leader() const {
  const bool tested = race_->rounds() >= std::min(plan_.rules.rounds_before_test, plan_.rules.most_rounds);
  for (std::size_t member = 0; !tested && member < elites_here_; ++member)
    if (race_->survives(member)) return member;
  return race_->order().front();
}

std::optional<Recommendation> Racing::recommendation() const {
  if (race_->survivors().empty()) return std::nullopt;
  const auto member = leader();
  const auto found = moments(member);
  if (found.count() < 2 || !std::isfinite(found.mean()) || !std::isfinite(found.error())) return std::nullopt;
  return Recommendation{entrants_[member].x, found.mean(), found.error(), found.count()};
}

std::string Racing::remark() const {
  const auto left = race_->survivors().size();
  const auto of = races_ > 1 ? fmt::format(" in race {} of {}", std::min(race_number_ + 1, races_), races_) : "";
  return fmt::format("{} of {} candidates {} left after {} rounds{}", left, entrants_.size(), left == 1 ? "is" : "are",
                     left == 0 ? 1 : race_->rounds(), of);
}

Plan plan_of(const OptimizerOptions& options) {
  const bool halving = word_of(options, "elimination") == "halving";
  return {{halving ? Elimination::halving : Elimination::rank, number_of(options, "confidence"),
           count_of(options, "rounds_before_test"), count_of(options, "rounds_to_confirm"),
           count_of(options, "most_rounds")},
          count_of(options, "candidates"),
          count_of(options, "races")};
}
}  // namespace
}  // namespace racing

OptimizerKind racing_kind() {
  return {
      {.name = "racing",
       .about = "finds the best of noisy candidates by repeated evaluations; ends by itself",
       .asynchronous = true,
       .options = {OptionRule::whole("candidates",
                                     "number of candidates in a race; fewer if the space has fewer points", 2, 1e4, 64),
                   OptionRule::number("confidence", "probability that a race does not eliminate its best candidate",
                                      0.5, 0.9999, 0.95),
                   OptionRule::word("elimination",
                                    "rank: a candidate leaves the race if a test finds that it is worse than the best "
                                    "candidate; halving: at each test, the worse half of the candidates leaves the "
                                    "race, until two are left",
                                    {"rank", "halving"}, "rank"),
                   OptionRule::whole("most_rounds", "largest number of rounds in a race", 2, 1000, 30),
                   OptionRule::whole(
                       "races",
                       "number of races, one after the other; always 1 if a race can include all points of the space",
                       1, 100, 4),
                   OptionRule::whole("rounds_before_test", "number of rounds before the first test", 2, 1000, 5),
                   OptionRule::whole("rounds_to_confirm", "smallest number of rounds in the last race", 2, 1000, 10)}},
      [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
        return std::make_unique<racing::Racing>(space, seed, racing::plan_of(options), terms.mode);
      }};
}

}  // namespace culmen
