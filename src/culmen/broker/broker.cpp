#include "culmen/broker/broker.hpp"

#include <algorithm>
#include <limits>

namespace culmen {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t ask_at_once = 256;
constexpr std::size_t most_recording =
    4096;  // outcomes that wait for the disk; a kill can cost this many, and they take memory
// While the longest evaluation runs, another worker may complete this number of evaluations. With a lower limit,
// thousands of workers would wait for the longest one.
constexpr std::uint64_t asked_per_worker = 16;
}  // namespace

Broker::Broker(const BrokerOptions& options)
    : options_(options),
      ends_s_(infinity),
      dispatcher_({options.prefetch, options.prefetch_below_s, options.batch,
                   options.mode == Mode::asynchronous && !options.open_ended, options.most_waiting, options.open_ended},
                  options.open_ended),
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
  if (dispatcher_.join(e.worker)) actions_->push_back(Resize{dispatcher_.workers()});
}

void Broker::on_event(const Leaving& e) { dispatcher_.leave(e.worker); }

/// Only its current evaluation can have killed it; the waiting ones are sent again without blame. From the back, so
/// that they keep their order at the head of the queue.
void Broker::on_event(const Lost& e) {
  const auto left = dispatcher_.lose(e.worker);
  if (!left) return;
  const bool to_blame = e.to_blame && left->evaluates_first;
  for (auto at = left->sent.rbegin(); at != left->sent.rend(); ++at) {
    const auto [id, attempt] = *at;
    if (!evaluations_.has(id) || evaluations_[id].state != State::sent || evaluations_[id].attempt != attempt) continue;
    lose(id, e.worker, to_blame && std::next(at) == left->sent.rend());
    if (stopped()) return;
  }
  actions_->push_back(Resize{dispatcher_.workers()});
  if (dispatcher_.workers() == 0 && options_.needs_workers) stop(StopReason::error);
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
  if (open) dispatcher_.learn_duration(e.duration_s);
  dispatcher_.answer(e.worker, e.id, e.attempt, e.duration_s, now_s_, supply());
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
  if (options_.failures.on_failure == OnFailure::stop) {
    actions_->push_back(Drop{id});
    return stop(StopReason::failure);
  }
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
  if (!stopped()) dispatch();
  if (!stopped()) ask_if_needed();
  counts_.workers = dispatcher_.workers();
  counts_.busy = dispatcher_.busy();
}

void Broker::dispatch() {
  if (recording_.size() >= most_recording) return;
  while (!ready_.empty()) {
    const auto worker = dispatcher_.pick(supply());
    if (!worker) return;
    auto share = std::max<std::size_t>(1, ready_.size() / dispatcher_.free());
    do give_first(*worker);
    while (--share > 0 && dispatcher_.can_take(*worker, supply()));
  }
}

void Broker::give_first(WorkerId worker) {
  const auto id = ready_.front();
  ready_.pop_front();
  auto& e = evaluations_[id];
  e.state = State::sent;
  actions_->push_back(Send{worker, id, e.attempt, dispatcher_.give(worker, id, e.attempt, now_s_)});
}

Supply Broker::supply() const {
  const bool all_asked = options_.rules.evaluations != 0 && counts_.asked >= options_.rules.evaluations;
  return {ready_.size(), in_short_supply_ || all_asked};
}

void Broker::ask_if_needed() {
  if (asking_ || must_tell_first_ || exhausted_) {
    if (exhausted_ && evaluations_.first() == evaluations_.end()) stop(StopReason::exhausted);
    return;
  }
  const std::uint64_t want = dispatcher_.wanted();
  const std::uint64_t open = evaluations_.end() - evaluations_.first();
  const std::uint64_t low_water = options_.mode == Mode::generational ? want : 1;
  const std::uint64_t most_open = std::max(options_.ask_ahead, asked_per_worker * dispatcher_.workers());
  if (dispatcher_.workers() == 0 || ready_.size() >= low_water || open >= most_open) return;
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

/// Hundreds of quick evaluations would end before the optimizer has heard of one of them.
std::uint64_t Broker::asynchronous_need() {
  const auto room = dispatcher_.room();
  return options_.open_ended ? room : room - std::min<std::uint64_t>(room, recording_.size());
}

}  // namespace culmen
