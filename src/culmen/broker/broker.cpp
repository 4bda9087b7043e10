#include "culmen/broker/broker.hpp"

#include <algorithm>
#include <limits>

namespace culmen {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t ask_at_once = 256;
constexpr std::size_t most_recording =
    4096;  // outcomes that wait for the disk; a kill can cost this many, and they take memory
// While the longest evaluation runs, the other workers end so many: without that many, thousands of workers would wait
// for it.
constexpr std::uint64_t asked_per_worker = 16;
// While the candidate before a waiting one is evaluated, the other workers need about one each, and more if durations
// differ.
constexpr std::uint64_t kept_per_worker = 2;
// A worker with more may hold results of evaluations that have ended.
constexpr std::size_t few = 4;
}  // namespace

Broker::Broker(const BrokerOptions& options)
    : options_(options),
      ends_s_(infinity),
      free_(std::size_t{options.batch} + std::max(options.batch, Prefetch::most_waiting)),
      prefetch_({options.prefetch, options.prefetch_below_s, options.batch,
                 options.mode == Mode::asynchronous && !options.open_ended, options.most_waiting, options.open_ended}),
      stagnation_(options.rules.stagnation_tolerance) {}

void Broker::replay_ask(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) evaluations_.push();
  counts_.asked += count;
}

void Broker::replay_tell(EvaluationId id, bool ok, double value, std::uint64_t residuals) {
  learn_shape(id, ok, residuals);
  auto& e = evaluations_[id];
  e.state = State::closed;
  e.ok = ok;
  e.value = value;
  ++counts_.told;
  if (!ok) ++counts_.failed;
  reached_ |= ok && value <= options_.rules.target;
  stagnation_.see(ok, value);
  evaluations_.trim([](const Evaluation& e) { return e.state == State::closed; });
}

void Broker::replay_cancel(EvaluationId id) {
  --counts_.asked;  // it is not told, so it does not count
  evaluations_[id].state = State::closed;
  evaluations_.trim([](const Evaluation& e) { return e.state == State::closed; });
}

void Broker::replay_outcome(EvaluationId id, bool ok, double value, std::uint64_t residuals) {
  if (differs(ok, residuals)) return;
  auto& e = evaluations_[id];
  e.state = State::durable;
  e.ok = ok;
  e.value = value;
  e.residuals = residuals;
}

void Broker::start(double now_s, std::vector<Action>& actions) {
  actions_ = &actions;
  now_s_ = now_s;
  ends_s_ = now_s + options_.rules.wall_time_s;
  told_before_ = counts_.told;
  std::vector<EvaluationId> durable;
  for (auto id = evaluations_.first(); id < evaluations_.end(); ++id) {
    if (evaluations_[id].state == State::queued) ready_.push_back(id);
    if (evaluations_[id].state == State::durable) durable.push_back(id);
  }
  stop_if_at_end();
  if (stopped()) return;
  if (job_) actions_->push_back(StartJob{*job_});
  if (options_.mode == Mode::generational) {
    tell_in_order();
  } else {
    for (const auto id : durable)
      if (!stopped()) tell(id);
  }
  advance();
}

void Broker::on(const Event& event, double now_s, std::vector<Action>& actions) {
  actions_ = &actions;
  now_s_ = now_s;
  if (stopped()) return;
  std::visit([this](const auto& e) { on_event(e); }, event);
  advance();
}

double Broker::deadline_s() const { return stopped() ? infinity : ends_s_; }

void Broker::on_event(const Joined& e) {
  if (e.worker >= workers_.size()) workers_.resize(e.worker + 1);
  if (workers_[e.worker].alive) return;
  workers_[e.worker] = {};
  workers_[e.worker].alive = true;
  ++counts_.workers;
  set_free(e.worker);
  actions_->push_back(Resize{counts_.workers});
}

void Broker::on_event(const Leaving& e) {
  if (e.worker >= workers_.size() || !workers_[e.worker].alive || workers_[e.worker].leaving) return;
  unset_free(e.worker);
  workers_[e.worker].leaving = true;
}

void Broker::on_event(const Lost& e) {
  if (e.worker >= workers_.size() || !workers_[e.worker].alive) return;
  unset_free(e.worker);
  auto& worker = workers_[e.worker];
  worker.alive = false;
  --counts_.workers;
  counts_.busy -= !worker.sent.empty();
  // Only its current evaluation can have killed it; the waiting ones are sent again without blame. It is the first one,
  // unless the worker holds results; it holds none when it repeats an evaluation. From the back, so that they keep
  // their order at the head of the queue.
  const bool is_first = worker.sent.size() <= few || may_hold(worker) == 0 || worker.sent.front().second > 0;
  const bool to_blame = e.to_blame && is_first;
  for (auto at = worker.sent.rbegin(); at != worker.sent.rend(); ++at) {
    const auto [id, attempt] = *at;
    if (!evaluations_.has(id) || evaluations_[id].state != State::sent || evaluations_[id].attempt != attempt) continue;
    lose(id, e.worker, to_blame && std::next(at) == worker.sent.rend());
  }
  worker.sent = {};  // its number does not come again
  actions_->push_back(Resize{counts_.workers});
  if (counts_.workers == 0 && options_.needs_workers) stop(StopReason::error);
}

void Broker::on_event(const Asked& e) {
  asking_ = false;
  must_tell_first_ = e.count < e.wanted;
  exhausted_ = e.finished;
  in_short_supply_ = e.count < e.wanted || e.finished;
  for (std::uint64_t i = 0; i < e.count; ++i) {
    evaluations_.push();
    ready_.push_back(e.first + i);
  }
  counts_.asked += e.count;
  const bool idle = e.count == 0 && !e.finished && evaluations_.first() == evaluations_.end() && !job_;
  if (idle && !options_.open_ended) stop(StopReason::error);
}

void Broker::on_event(const Arrived& e) {
  const bool open =
      evaluations_.has(e.id) && (evaluations_[e.id].state == State::sent || evaluations_[e.id].state == State::queued);
  if (open) prefetch_.learn_duration(e.duration_s);
  if (e.worker < workers_.size() && workers_[e.worker].alive) {
    auto& worker = workers_[e.worker];
    const auto at = std::find(worker.sent.begin(), worker.sent.end(), std::pair{e.id, e.attempt});
    if (at != worker.sent.end()) {
      worker.round_trip.count_answer();
      see_backlog(worker, e.duration_s);
      if (worker.alone_since_s >= 0 && e.duration_s >= 0)
        worker.round_trip.learn(std::max(0.0, now_s_ - worker.alone_since_s - e.duration_s));
      unset_free(e.worker);
      worker.sent.erase(at);
      counts_.busy -= worker.sent.empty();
      set_free(e.worker);
    }
  }
  if (!open) {
    ++counts_.dropped;
    actions_->push_back(Drop{e.id});
    return;
  }
  auto& evaluation = evaluations_[e.id];
  if (!e.ok && options_.failures.on_failure == OnFailure::stop) {
    actions_->push_back(Drop{e.id});
    return stop(StopReason::failure);
  }
  if (!e.ok && options_.failures.on_failure == OnFailure::retry && evaluation.failures < options_.failures.retries) {
    actions_->push_back(Drop{e.id});
    if (evaluation.state == State::queued || evaluation.attempt != e.attempt) return;  // a newer attempt is on its way
    ++evaluation.failures;
    ++counts_.retried;
    return requeue(e.id);
  }
  evaluation.wrong_shape = e.wrong_shape;
  accept(e.id, e.ok, e.value, e.residuals);
}

void Broker::on_event(const Recorded& e) {
  while (recorded_ < e.records && !recording_.empty()) {
    const auto id = recording_.front();
    recording_.pop_front();
    ++recorded_;
    evaluations_[id].state = State::durable;
    if (options_.mode == Mode::asynchronous) tell(id);
    if (stopped()) return;
  }
  if (options_.mode == Mode::generational) tell_in_order();
}

void Broker::on_event(const RecordFailed&) { stop(StopReason::error); }

void Broker::on_event(const JobGiven& e) {
  job_ = e.job;
  actions_->push_back(StartJob{e.job});
}

void Broker::on_event(const JobDone& e) {
  if (job_ != e.job) return;
  job_.reset();
  if (!e.ok) return stop(StopReason::error);
  must_tell_first_ = false;
  actions_->push_back(Adopt{e.job});
}

void Broker::on_event(const StopRequested& e) { stop(e.reason); }

void Broker::accept(EvaluationId id, bool ok, double value, std::uint64_t residuals) {
  auto& e = evaluations_[id];
  if (e.state == State::queued) ready_.erase(std::find(ready_.begin(), ready_.end(), id));
  e.state = State::recording;
  e.ok = ok;
  e.value = value;
  e.residuals = residuals;
  recording_.push_back(id);
  actions_->push_back(Record{id});
}

void Broker::lose(EvaluationId id, WorkerId worker, bool to_blame) {
  auto& e = evaluations_[id];
  ++counts_.lost;
  e.losses += to_blame;
  if (e.losses < options_.failures.lost_workers) return requeue(id);
  actions_->push_back(Fail{id, e.losses, worker, e.attempt});
  accept(id, false, 0, 0);
}

void Broker::requeue(EvaluationId id) {
  auto& e = evaluations_[id];
  e.state = State::queued;
  ++e.attempt;
  ready_.push_front(id);
}

/// The study would find the shortest vector: fewer residuals give a smaller sum. Decided in the order of tells, because
/// the order of arrivals depends on the workers.
bool Broker::differs(bool ok, std::uint64_t residuals) const {
  return ok && shape_.residuals != 0 && residuals != shape_.residuals;
}

void Broker::learn_shape(EvaluationId id, bool ok, std::uint64_t residuals) {
  if (ok && shape_.residuals == 0 && !options_.open_ended) shape_ = {id, residuals};
}

void Broker::tell(EvaluationId id) {
  auto& e = evaluations_[id];
  if (differs(e.ok, e.residuals)) {
    actions_->push_back(Differ{shape_.of, shape_.residuals, id, e.residuals});
    return stop(StopReason::failure);
  }
  learn_shape(id, e.ok, e.residuals);
  e.state = State::closed;
  ++counts_.told;
  if (!e.ok) ++counts_.failed;
  misshapen_ += e.wrong_shape;
  must_tell_first_ = false;
  actions_->push_back(Tell{id});
  reached_ |= e.ok && e.value <= options_.rules.target;
  stagnation_.see(e.ok, e.value);
  evaluations_.trim([](const Evaluation& e) { return e.state == State::closed; });
  stop_if_at_end();
}

void Broker::stop_if_at_end() {
  if (reached_) return stop(StopReason::target);
  if (converged_) return stop(StopReason::converged);
  if (options_.rules.evaluations != 0 && counts_.told >= options_.rules.evaluations)
    return stop(StopReason::evaluations);
  if (options_.rules.stagnation != 0 && stagnation_.since() >= options_.rules.stagnation)
    return stop(StopReason::stagnation);
  const auto patience = options_.failures.give_up_after;
  if (patience == 0 || counts_.failed < counts_.told) return;
  if (counts_.told - told_before_ >= patience || misshapen_ >= FailurePolicy::give_up_without_shape)
    stop(StopReason::all_failed);
}

void Broker::tell_in_order() {
  while (!stopped() && evaluations_.has(evaluations_.first()) &&
         evaluations_[evaluations_.first()].state == State::durable)
    tell(evaluations_.first());
}

void Broker::stop(StopReason reason) {
  if (stopped()) return;
  stopped_ = reason;
  if (is_final(reason)) {
    for (auto id = evaluations_.first(); id < evaluations_.end(); ++id) {
      if (evaluations_[id].state == State::closed) continue;
      evaluations_[id].state = State::closed;
      actions_->push_back(Cancel{id});
    }
  }
  actions_->push_back(Stop{reason});
}

void Broker::advance() {
  if (!stopped() && now_s_ >= ends_s_) stop(StopReason::wall_time);
  if (stopped()) return;
  dispatch();
  ask_if_needed();
}

void Broker::dispatch() {
  if (recording_.size() >= most_recording) return;
  WorkerId worker = 0;
  while (!ready_.empty() && pick_free(worker)) {
    auto share = std::max<std::size_t>(1, ready_.size() / free_workers_);
    do give_first(worker);
    while (--share > 0 && can_take(workers_[worker]));
  }
}

/// Several at once travel in one message. Of the last ones, no worker gets more than others have.
bool Broker::can_take(const WorkerState& worker) const {
  const auto level = worker.sent.size();
  if (level >= credits(worker)) return false;
  if (level >= options_.batch && keeps_for_idle(worker)) return false;
  return !has_last() || level <= std::max<std::size_t>(options_.batch, ready_.size() / counts_.workers);
}

/// One of those that have the fewest candidates.
bool Broker::pick_free(WorkerId& worker) {
  for (std::size_t level = 0; free_workers_ > 0; ++level) {
    while (!free_[level].empty()) {
      worker = free_[level].back();
      if (level >= options_.batch && keeps_for_idle(workers_[worker])) return false;
      if (level < credits(workers_[worker])) return true;
      unset_free(worker);  // evaluations have become longer
    }
  }
  return false;
}

/// No more candidates come before a tell.
bool Broker::has_last() const {
  return in_short_supply_ || (options_.rules.evaluations != 0 && counts_.asked >= options_.rules.evaluations);
}

/// A candidate that waits at a busy worker could idle another one, if no more candidates come before this is told. A
/// program that submits calls submits the next ones when it has a result, so workers with a call in advance stay busy.
bool Broker::keeps_for_idle(const WorkerState& worker) const {
  if (options_.open_ended) return false;
  return has_last() && ready_.size() <= kept_per_worker * counts_.workers && !prefetch_.shorter_than(worker.round_trip);
}

/// Since a worker was set free, evaluations may have become longer. One without a candidate stays free.
void Broker::unset_full() {
  for (std::size_t level = 1; level < free_.size(); ++level) {
    for (auto i = free_[level].size(); i-- > 0;) {
      const auto worker = free_[level][i];
      if (level >= credits(workers_[worker])) unset_free(worker);
    }
  }
}

/// A worker that has not answered yet gets no more than it can evaluate: its round trip is measured with the first.
std::uint64_t Broker::credits(const WorkerState& worker) const {
  if (options_.batch == 1 && (!worker.round_trip.has_answers() || worker.round_trip.is_in_doubt())) return 1;
  return options_.batch + prefetch_.waiting(worker.round_trip, worker.backlog);
}

/// Candidates that keep the worker busy during two round trips.
std::uint64_t Broker::on_the_way(const WorkerState& worker) const {
  return options_.batch + prefetch_.in_two_trips(worker.round_trip);
}

/// A worker gets no more candidates until it has so few: half of them, or those for two round trips.
std::uint64_t Broker::refill_level(const WorkerState& worker) const {
  const auto most = credits(worker);
  if (most <= few) return most - 1;
  if (worker.backlog.times() > 1) return (most + 1) / 2;
  return std::min(most - 1, std::max((most + 1) / 2, on_the_way(worker)));
}

/// So few that what is left is enough for two round trips; half of them if more wait because of a backlog, for then
/// messages take long because there are many.
std::uint32_t Broker::may_hold(const WorkerState& worker) const {
  const auto most = credits(worker);
  if (worker.backlog.times() > 1) return static_cast<std::uint32_t>(most / 2);
  const auto needed = on_the_way(worker);
  return most > needed ? static_cast<std::uint32_t>((most - needed) / 4) : 0;
}

/// Before the answered candidate is taken off. A look at the round trip leaves the worker idle.
void Broker::see_backlog(WorkerState& worker, double duration_s) {
  const auto most = credits(worker);
  const bool looks = worker.alone_since_s >= 0 && most > 1;
  const bool wants = (ready_.empty() || keeps_for_idle(worker)) && worker.sent.size() <= refill_level(worker);
  if (looks || worker.round_trip.is_in_doubt() || wants) return worker.backlog.restart();
  worker.backlog.see_answer(now_s_, duration_s, most, prefetch_.may_grow(worker.round_trip, worker.backlog));
}

void Broker::ask_if_needed() {
  if (asking_ || must_tell_first_ || exhausted_) {
    if (exhausted_ && evaluations_.first() == evaluations_.end()) stop(StopReason::exhausted);
    return;
  }
  const std::uint64_t want = counts_.workers * (options_.batch + prefetch_.waiting({}));
  const std::uint64_t open = evaluations_.end() - evaluations_.first();
  const std::uint64_t low_water = options_.mode == Mode::generational ? want : 1;
  const std::uint64_t most_open = std::max(options_.ask_ahead, asked_per_worker * counts_.workers);
  if (counts_.workers == 0 || ready_.size() >= low_water || open >= most_open) return;
  std::uint64_t n = options_.mode == Mode::generational ? std::max(want, ask_at_once) : asynchronous_need();
  n = std::min(n, most_open - open);
  if (options_.rules.evaluations != 0)
    n = std::min(n, options_.rules.evaluations - std::min(counts_.asked, options_.rules.evaluations));
  if (n == 0) {
    // Nothing would ever wake the master again.
    if (open == 0 && options_.rules.evaluations != 0 && counts_.asked >= options_.rules.evaluations)
      stop(StopReason::error);
    return;
  }
  asking_ = true;
  actions_->push_back(Ask{n});
}

std::uint64_t Broker::asynchronous_need() {
  unset_full();
  auto n = std::uint64_t{free_workers_} * options_.batch;
  // Hundreds of quick evaluations would end before the optimizer has heard of one of them.
  return options_.open_ended ? n : n - std::min<std::uint64_t>(n, recording_.size());
}

void Broker::set_free(WorkerId worker) {
  auto& state = workers_[worker];
  const auto level = state.sent.size();
  if (state.leaving || level > refill_level(state)) return;
  state.place = free_[level].size();
  free_[level].push_back(worker);
  ++free_workers_;
}

void Broker::unset_free(WorkerId worker) {
  auto& state = workers_[worker];
  if (state.place == not_free) return;
  auto& list = free_[state.sent.size()];
  list[state.place] = list.back();
  workers_[list[state.place]].place = state.place;
  list.pop_back();
  state.place = not_free;
  --free_workers_;
}

void Broker::give_first(WorkerId worker) {
  const auto id = ready_.front();
  ready_.pop_front();
  unset_free(worker);
  auto& state = workers_[worker];
  counts_.busy += state.sent.empty();
  auto& e = evaluations_[id];
  e.state = State::sent;
  state.alone_since_s = state.sent.empty() ? now_s_ : -1;
  state.sent.emplace_back(id, e.attempt);
  set_free(worker);
  actions_->push_back(Send{worker, id, e.attempt, may_hold(state)});
}

}  // namespace culmen
