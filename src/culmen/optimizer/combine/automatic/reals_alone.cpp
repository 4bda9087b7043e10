#include "culmen/optimizer/combine/automatic/reals_alone.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::automatic {
namespace {
constexpr std::uint64_t patience = 3;           // turns of n + 1 evaluations without anything better
constexpr std::uint64_t most_beside_news = 10;  // turns while others have found something better
constexpr std::size_t largest_descent_turn = 4096;

std::vector<double> steps(const Parameter& p, double value) {
  std::vector<double> to{value - 1, value + 1};
  if (p.scale == Scale::log) to.insert(to.end(), {std::floor(value / 2), 2 * value});
  for (auto& v : to) v = std::clamp(v, p.lower, p.upper);
  std::ranges::sort(to);
  to.erase(std::unique(to.begin(), to.end()), to.end());
  std::erase(to, value);
  return to;
}

bool same_others(const Space& space, const std::vector<double>& x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (space[i].discrete() && x[i] != y[i]) return false;
  return true;
}
}  // namespace

RealsAlone::RealsAlone(const Space& space, std::uint64_t seed, const std::vector<double>& best, std::size_t lanes,
                       bool generational)
    : space_(space),
      seed_(seed),
      generational_(generational),
      random_(seed, 1),
      lanes_(generational_ ? lanes : 1),
      best_x_(best) {
  begin(lanes_.front(), best);
  for (std::size_t k = 1; k < lanes_.size(); ++k) begin(lanes_[k], next());
}

void RealsAlone::begin(Lane& lane, const std::vector<double>& x) {
  lane = {.from = x};
  std::vector<Parameter> parameters;
  const auto active = space_.activity(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (space_[i].discrete() || !active[i]) continue;
    lane.reals.push_back(i);
    auto& p = parameters.emplace_back(space_[i]);
    p.active_when.clear();
    p.initial = x[i];
  }
  lane.descents = make_optimizer("bfgs", Space(std::move(parameters)), seed_ + ++begun_);
}

void RealsAlone::hear(const std::vector<double>& x, const Outcome& outcome) {
  learn(x, outcome, 0, x != lanes_.front().from);
}

/// Of equally good ones the first that was asked for, so that the order of tells does not matter.
void RealsAlone::learn(const std::vector<double>& x, const Outcome& outcome, EvaluationId from, bool is_new) {
  const bool as_good = !better(best_, outcome) && from < best_from_;
  if (!better(outcome, best_) && !as_good) return;
  best_ = outcome;
  best_x_ = x;
  best_from_ = from;
  best_is_new_ = is_new;
}

bool RealsAlone::is_over(const Lane& lane) const {
  const auto turn = lane.reals.size() + 1;
  const auto asked = lane.descents->asked();
  return asked >= lane.improved + patience * turn || (best_is_new_ && asked >= most_beside_news * turn);
}

std::vector<double> RealsAlone::next() {
  auto x = best_x_;
  if (std::exchange(best_is_new_, false)) return x;
  if (about_.empty() || !same_others(space_, about_, x) || (untried_.empty() && about_ != x)) list_changes();
  if (!untried_.empty()) {
    std::swap(untried_[random_.below(untried_.size())], untried_.back());
    x[untried_.back().first] = untried_.back().second;
    untried_.pop_back();
  } else if (pairs_left_ > 0) {
    --pairs_left_;
    change_two(x);
  } else {
    std::ranges::generate(x, [this] { return random_.uniform(); });
    space_.from_unit(x, x);
  }
  space_.rest_inactive(x);
  return x;
}

void RealsAlone::list_changes() {
  about_ = best_x_;
  untried_ = changes();
  const bool of_two = std::ranges::any_of(untried_, [&](const Change& c) { return c.first != untried_[0].first; });
  pairs_left_ = of_two ? untried_.size() : 0;
}

void RealsAlone::change_two(std::vector<double>& x) {
  auto all = changes();
  for (int k = 0; k < 2 && !all.empty(); ++k) {
    const auto [parameter, to] = all[random_.below(all.size())];
    x[parameter] = to;
    std::erase_if(all, [which = parameter](const Change& change) { return change.first == which; });
  }
}

std::vector<RealsAlone::Change> RealsAlone::changes() const {
  std::vector<Change> all;
  const auto active = space_.activity(best_x_);
  for (std::size_t i = 0; i < best_x_.size(); ++i) {
    const auto& p = space_[i];
    if (!p.discrete() || !active[i]) continue;
    if (!p.is_choice()) {
      for (const double to : steps(p, best_x_[i])) all.emplace_back(i, to);
      continue;
    }
    for (double to = p.lower; to <= p.upper; ++to)
      if (to != best_x_[i]) all.emplace_back(i, to);
  }
  return all;
}

void RealsAlone::do_ask(std::size_t n, std::vector<Candidate>& out) {
  while (n > 0) {
    while (serving_ < lanes_.size() && lanes_[serving_].served == lanes_[serving_].turn.size()) ++serving_;
    if (serving_ < lanes_.size()) {
      serve(serving_, out);
      --n;
    } else if (!begin_turns()) {
      return;
    }
  }
}

/// All lanes at once; without generations the first that waits for nothing, or one more.
bool RealsAlone::begin_turns() {
  if (generational_ && !open_.empty()) return false;
  serving_ = 0;
  if (generational_) {
    for (auto& lane : lanes_) begin_turn(lane);
    return true;
  }
  while (serving_ < lanes_.size() && lanes_[serving_].open > 0) ++serving_;
  if (serving_ == lanes_.size()) begin(lanes_.emplace_back(), next());
  begin_turn(lanes_[serving_]);
  return true;
}

void RealsAlone::begin_turn(Lane& lane) {
  if (is_over(lane)) begin(lane, next());
  lane.turn.clear();
  lane.served = 0;
  lane.descents->ask(largest_descent_turn, lane.turn);
}

void RealsAlone::serve(std::size_t lane, std::vector<Candidate>& out) {
  auto& l = lanes_[lane];
  const auto& candidate = l.turn[l.served++];
  auto x = l.from;
  for (std::size_t j = 0; j < l.reals.size(); ++j) x[l.reals[j]] = candidate.x[j];
  space_.rest_inactive(x);
  ++l.open;
  open_.emplace(next_++, Given{lane, candidate.id, x});
  out.push_back({0, std::move(x)});
}

void RealsAlone::do_tell(EvaluationId id, const Outcome& outcome) {
  const auto given = open_.extract(id).mapped();
  auto& lane = lanes_[given.lane];
  --lane.open;
  lane.descents->tell(given.inner, outcome);
  if (better(outcome, lane.found)) {
    lane.found = outcome;
    lane.improved = lane.descents->asked();
  }
  learn(given.x, outcome, id + 1, false);
}

void RealsAlone::do_cancel(EvaluationId id) {
  const auto given = open_.extract(id).mapped();
  --lanes_[given.lane].open;
  lanes_[given.lane].descents->cancel(given.inner);
}

}  // namespace culmen::automatic
