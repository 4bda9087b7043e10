#include "culmen/optimizer/automatic/reals_alone.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::automatic {
namespace {
constexpr std::uint64_t patience = 3;           // turns of n + 1 evaluations without anything better
constexpr std::uint64_t most_beside_news = 10;  // turns while others have found something better

/// One step up and down of what has an order; on a log scale twice and half as much.
std::vector<double> steps(const Parameter& p, double value) {
  std::vector<double> to{value - 1, value + 1};
  if (p.scale == Scale::log) to = {std::floor(value / 2), 2 * value};
  std::erase_if(to, [&p](double v) { return v < p.lower || v > p.upper; });
  return to;
}
}  // namespace

RealsAlone::RealsAlone(const Space& space, std::uint64_t seed, const std::vector<double>& best, const Terms& terms)
    : space_(space),
      seed_(seed),
      terms_{.generational = terms.generational},
      random_(seed, 1),
      best_(Outcome::failure(Status::failed, {})),
      best_x_(best) {
  begin(best);
}

void RealsAlone::begin(const std::vector<double>& x) {
  others_ = x;
  improved_ = 0;
  found_ = Outcome::failure(Status::failed, {});
  reals_.clear();
  std::vector<Parameter> parameters;
  const auto active = space_.activity(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (space_[i].discrete() || !active[i]) continue;
    reals_.push_back(i);
    auto& p = parameters.emplace_back(space_[i]);
    p.active_when.clear();
    p.initial = x[i];
  }
  inner_ = make_optimizer("bfgs", Space(std::move(parameters)), seed_ + ++time_, {}, terms_);
}

bool RealsAlone::same_others(const std::vector<double>& x, const std::vector<double>& y) const {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (space_[i].discrete() && x[i] != y[i]) return false;
  return true;
}

std::vector<double> RealsAlone::reals_of(const std::vector<double>& x) const {
  std::vector<double> out;
  for (const auto i : reals_) out.push_back(x[i]);
  return out;
}

void RealsAlone::hear(const std::vector<double>& x, const Outcome& outcome) {
  const bool here = same_others(x, others_);
  if (here) inner_->hear(reals_of(x), outcome);
  if (!better(outcome, best_)) return;
  if (!same_others(x, best_x_)) untried_.reset();
  best_ = outcome;
  best_x_ = x;
  best_is_new_ = !here;
}

/// In asynchronous mode what is open is of no turn that is over.
bool RealsAlone::is_time_to_go_on() const {
  if (terms_.generational && !open_.empty()) return false;
  const auto turn = reals_.size() + 1 + 2 * open_.size();
  return inner_->asked() >= improved_ + patience * turn || (best_is_new_ && inner_->asked() >= most_beside_news * turn);
}

/// The best where that is news; else what has not been tried about it.
std::vector<double> RealsAlone::next() {
  auto x = best_x_;
  if (std::exchange(best_is_new_, false)) return x;
  if (!untried_) untried_ = changes();
  const auto all = untried_->empty() ? changes() : std::vector<Change>{};
  if (!untried_->empty()) {
    std::swap((*untried_)[random_.below(untried_->size())], untried_->back());
    x[untried_->back().first] = untried_->back().second;
    untried_->pop_back();
  }
  for (int k = 0; k < 2 && !all.empty(); ++k) {
    const auto& [parameter, to] = all[random_.below(all.size())];
    x[parameter] = to;
  }
  space_.rest_inactive(x);
  return x;
}

std::vector<RealsAlone::Change> RealsAlone::changes() const {
  std::vector<Change> all;
  const auto active = space_.activity(best_x_);
  for (std::size_t i = 0; i < best_x_.size(); ++i) {
    const auto& p = space_[i];
    if (!p.discrete() || !active[i]) continue;
    if (!p.is_choice())
      for (const double to : steps(p, best_x_[i])) all.emplace_back(i, to);
    else
      for (double to = p.lower; to <= p.upper; ++to)
        if (to != best_x_[i]) all.emplace_back(i, to);
  }
  return all;
}

void RealsAlone::do_ask(std::size_t n, std::vector<Candidate>& out) {
  if (is_time_to_go_on()) begin(next());
  const auto first = out.size();
  inner_->ask(n, out);
  for (auto k = first; k < out.size(); ++k) {
    auto x = others_;
    for (std::size_t j = 0; j < reals_.size(); ++j) x[reals_[j]] = out[k].x[j];
    open_.emplace(next_++, Given{time_, out[k].id, x});
    out[k].x = std::move(x);
  }
}

void RealsAlone::do_tell(EvaluationId id, const Outcome& outcome) {
  const auto given = open_.extract(id).mapped();
  if (given.time == time_) inner_->tell(given.inner, outcome);
  if (given.time == time_ && better(outcome, found_)) {
    found_ = outcome;
    improved_ = inner_->asked();
  }
  if (!better(outcome, best_)) return;
  if (!same_others(given.x, best_x_)) untried_.reset();
  best_ = outcome;
  best_x_ = given.x;
  best_is_new_ = given.time != time_ && !same_others(given.x, others_);
}

void RealsAlone::do_cancel(EvaluationId id) {
  const auto given = open_.extract(id).mapped();
  if (given.time == time_) inner_->cancel(given.inner);
}

}  // namespace culmen::automatic
