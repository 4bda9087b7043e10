#include "culmen/optimizer/combine/automatic/reals_alone.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::automatic {
namespace {
constexpr std::uint64_t patience = 3;           // turns of n + 1 evaluations without an improvement
constexpr std::uint64_t most_beside_news = 10;  // turns after others have found something better
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
                       Mode mode, Edition edition)
    : space_(space),
      seed_(seed),
      mode_(mode),
      edition_(edition),
      random_(seed, 1),
      lanes_(mode == Mode::generational ? lanes : 1),
      best_x_(best) {
  begin(lanes_.front(), best);
  for (std::size_t k = 1; k < lanes_.size(); ++k) begin(lanes_[k], next());
}

void RealsAlone::begin(Lane& lane, const std::vector<double>& x) {
  lane = Lane();
  lane.from = x;
  std::vector<Parameter> parameters;
  const auto active = space_.activity(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (space_[i].discrete() || !active[i]) continue;
    lane.reals.push_back(i);
    auto& p = parameters.emplace_back(space_[i]);
    p.active_when.clear();
    p.initial = x[i];
  }
  lane.descents = make_optimizer("bfgs", Space(std::move(parameters)), seed_ + ++begun_, {}, {.edition = edition_});
}

void RealsAlone::hear(const std::vector<double>& x, const Outcome& outcome) {
  learn(x, outcome, 0, x != lanes_.front().from);
}

/// Among equally good ones the first that was asked for, so that the order of tells does not matter.
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

void RealsAlone::do_ask(std::size_t n, Asked& out) {
  while (n > 0) {
    if (const auto place = lanes_.serve()) {
      give(*place, out);
      --n;
    } else if (!begin_turns()) {
      return;
    }
  }
}

/// Begins the turns of all lanes. Without generations: only of the first lane that waits for nothing, or of a new lane.
bool RealsAlone::begin_turns() {
  if (!generational()) {
    begin_turn(waiting_lane());
    return true;
  }
  if (!lanes_.settled()) return false;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) begin_turn(lane);
  return true;
}

std::size_t RealsAlone::waiting_lane() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    if (lanes_[lane].turn.settled()) return lane;
  const auto added = lanes_.add();
  begin(lanes_[added], next());
  return added;
}

void RealsAlone::begin_turn(std::size_t place) {
  auto& lane = lanes_[place];
  if (is_over(lane)) begin(lane, next());
  lane.candidates.clear();
  lane.descents->ask(largest_descent_turn, lane.candidates);
  lanes_.begin_turn(place, lane.candidates.size());
}

void RealsAlone::give(const Lanes<Lane>::Place& place, Asked& out) {
  const auto& lane = lanes_[place.lane];
  const auto& candidate = lane.candidates[place.point];
  auto x = lane.from;
  for (std::size_t j = 0; j < lane.reals.size(); ++j) x[lane.reals[j]] = candidate.x[j];
  space_.rest_inactive(x);
  out.give(x, {place.lane, candidate.id, x});
}

void RealsAlone::do_tell(EvaluationId id, DescentPoint&& point, const Outcome& outcome) {
  auto& lane = lanes_[point.lane];
  lanes_.settle(point.lane);
  lane.descents->tell(point.inner, outcome);
  if (better(outcome, lane.found)) {
    lane.found = outcome;
    lane.improved = lane.descents->asked();
  }
  learn(point.x, outcome, id + 1, false);
}

void RealsAlone::do_cancel(EvaluationId, DescentPoint&& point) {
  lanes_.settle(point.lane);
  lanes_[point.lane].descents->cancel(point.inner);
}

}  // namespace culmen::automatic
