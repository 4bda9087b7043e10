#include "culmen/broker/dispatcher.hpp"

#include <algorithm>

namespace culmen {
namespace {
// While the candidate before a waiting one is evaluated, the other workers need about one each, and more if durations
// differ.
constexpr std::uint64_t kept_per_worker = 2;
// A worker with more may hold results of evaluations that have ended.
constexpr std::size_t few = 4;
}  // namespace

Dispatcher::Dispatcher(const PrefetchTerms& terms, bool open_ended)
    : batch_(terms.batch),
      open_ended_(open_ended),
      prefetch_(terms),
      free_(std::size_t{terms.batch} + std::max(terms.batch, Prefetch::most_waiting)) {}

bool Dispatcher::join(WorkerId worker) {
  if (worker >= workers_.size()) workers_.resize(worker + 1);
  if (workers_[worker].alive) return false;
  workers_[worker] = {};
  workers_[worker].alive = true;
  ++alive_;
  set_free(worker);
  return true;
}

void Dispatcher::leave(WorkerId worker) {
  if (!has(worker) || workers_[worker].leaving) return;
  unset_free(worker);
  workers_[worker].leaving = true;
}

/// It evaluates the first one, unless it holds results; it holds none when it repeats an evaluation.
std::optional<Dispatcher::Left> Dispatcher::lose(WorkerId worker) {
  if (!has(worker)) return {};
  unset_free(worker);
  auto& state = workers_[worker];
  state.alive = false;
  --alive_;
  busy_ -= !state.sent.empty();
  const bool is_first = state.sent.size() <= few || may_hold(state) == 0 || state.sent.front().second > 0;
  return Left{std::exchange(state.sent, {}), is_first};  // its number does not come again
}

void Dispatcher::answer(WorkerId worker, EvaluationId id, Attempt attempt, double duration_s, double now_s,
                        const Supply& supply) {
  if (!has(worker)) return;
  auto& state = workers_[worker];
  const auto at = std::find(state.sent.begin(), state.sent.end(), std::pair{id, attempt});
  if (at == state.sent.end()) return;
  state.round_trip.count_answer();
  see_backlog(state, duration_s, now_s, supply);
  if (state.alone_since_s >= 0 && duration_s >= 0)
    state.round_trip.learn(std::max(0.0, now_s - state.alone_since_s - duration_s));
  unset_free(worker);
  state.sent.erase(at);
  busy_ -= state.sent.empty();
  set_free(worker);
}

std::optional<WorkerId> Dispatcher::pick(const Supply& supply) {
  for (std::size_t level = 0; free_workers_ > 0; ++level) {
    while (!free_[level].empty()) {
      const auto worker = free_[level].back();
      if (level >= batch_ && keeps_for_idle(workers_[worker], supply)) return {};
      if (level < credits(workers_[worker])) return worker;
      unset_free(worker);  // evaluations have become longer
    }
  }
  return {};
}

/// Of the last ones, no worker gets more than others have.
bool Dispatcher::can_take(WorkerId worker, const Supply& supply) const {
  const auto& state = workers_[worker];
  const auto level = state.sent.size();
  if (level >= credits(state)) return false;
  if (level >= batch_ && keeps_for_idle(state, supply)) return false;
  return !supply.last || level <= std::max<std::size_t>(batch_, supply.ready / alive_);
}

std::uint32_t Dispatcher::give(WorkerId worker, EvaluationId id, Attempt attempt, double now_s) {
  unset_free(worker);
  auto& state = workers_[worker];
  busy_ += state.sent.empty();
  state.alone_since_s = state.sent.empty() ? now_s : -1;
  state.sent.emplace_back(id, attempt);
  set_free(worker);
  return may_hold(state);
}

std::uint64_t Dispatcher::room() {
  unset_full();
  return std::uint64_t{free_workers_} * batch_;
}

/// A candidate that waits at a busy worker could idle another one, if no more candidates come before this is told. A
/// program that submits calls submits the next ones when it has a result, so workers with a call in advance stay busy.
bool Dispatcher::keeps_for_idle(const Worker& worker, const Supply& supply) const {
  if (open_ended_) return false;
  return supply.last && supply.ready <= kept_per_worker * alive_ && !prefetch_.shorter_than(worker.round_trip);
}

/// A worker that has not answered yet gets no more than it can evaluate: its round trip is measured with the first.
std::uint64_t Dispatcher::credits(const Worker& worker) const {
  if (batch_ == 1 && (!worker.round_trip.has_answers() || worker.round_trip.is_in_doubt())) return 1;
  return batch_ + prefetch_.waiting(worker.round_trip, worker.backlog).now;
}

/// Candidates that keep the worker busy during two round trips.
std::uint64_t Dispatcher::on_the_way(const Worker& worker) const {
  return batch_ + prefetch_.in_two_trips(worker.round_trip);
}

/// A worker gets no more candidates until it has so few: half of them, or those for two round trips.
std::uint64_t Dispatcher::refill_level(const Worker& worker) const {
  const auto most = credits(worker);
  if (most <= few) return most - 1;
  if (worker.backlog.times() > 1) return (most + 1) / 2;
  return std::min(most - 1, std::max((most + 1) / 2, on_the_way(worker)));
}

/// So few that what is left is enough for two round trips; half of them if more wait because of a backlog, for then
/// messages take long because there are many.
std::uint32_t Dispatcher::may_hold(const Worker& worker) const {
  const auto most = credits(worker);
  if (worker.backlog.times() > 1) return static_cast<std::uint32_t>(most / 2);
  const auto needed = on_the_way(worker);
  return most > needed ? static_cast<std::uint32_t>((most - needed) / 4) : 0;
}

/// Before the answered candidate is taken off. A look at the round trip leaves the worker idle.
void Dispatcher::see_backlog(Worker& worker, double duration_s, double now_s, const Supply& supply) {
  const auto most = credits(worker);
  const bool looks = worker.alone_since_s >= 0 && most > 1;
  const bool wants =
      (supply.ready == 0 || keeps_for_idle(worker, supply)) && worker.sent.size() <= refill_level(worker);
  if (looks || worker.round_trip.is_in_doubt() || wants) return worker.backlog.restart();
  const auto [now, possible] = prefetch_.waiting(worker.round_trip, worker.backlog);
  worker.backlog.see_answer(now_s, duration_s, most, now < possible);
}

/// Since a worker was set free, evaluations may have become longer. One without a candidate stays free.
void Dispatcher::unset_full() {
  for (std::size_t level = 1; level < free_.size(); ++level) {
    for (auto i = free_[level].size(); i-- > 0;) {
      const auto worker = free_[level][i];
      if (level >= credits(workers_[worker])) unset_free(worker);
    }
  }
}

void Dispatcher::set_free(WorkerId worker) {
  auto& state = workers_[worker];
  const auto level = state.sent.size();
  if (state.leaving || level > refill_level(state)) return;
  state.place = free_[level].size();
  free_[level].push_back(worker);
  ++free_workers_;
}

void Dispatcher::unset_free(WorkerId worker) {
  auto& state = workers_[worker];
  if (state.place == not_free) return;
  auto& list = free_[state.sent.size()];
  list[state.place] = list.back();
  workers_[list[state.place]].place = state.place;
  list.pop_back();
  state.place = not_free;
  --free_workers_;
}

}  // namespace culmen
