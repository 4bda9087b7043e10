#include "culmen/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"

namespace culmen {
namespace {
BrokerOptions with_source(BrokerOptions options, const Source& source) {
  options.mode = source.mode();
  options.open_ended = source.open_ended();
  return options;
}

std::string describe(EvaluationId id, const Outcome& failed) {
  return fmt::format("evaluation {} {}: {}", id, to_string(failed.status), failed.message);
}
}  // namespace

Engine::Engine(Source& source, const Clock& clock, EngineOptions options)
    : source_(source), clock_(clock), options_(std::move(options)), broker_(with_source(options_.broker, source)) {
  if (!options_.jobs) {
    options_.jobs = std::make_shared<JobThread>([this] {
      if (auto* transport = awake_.load()) transport->wake();
    });
  }
  source_.hand_out_jobs();
  if (look_for_job()) broker_.replay_job(job_->id);
}

Engine::~Engine() = default;

void Engine::start(Transport& transport, Recorder* recorder) {
  recorder_ = recorder;
  transport_ = &transport;
  awake_ = &transport;
  told_before_ = broker_.counts().told;
  if (const auto why = stop_requested_.exchange(StopReason::none); why != StopReason::none) {
    broker_.on(StopRequested{why}, clock_.now_s(), actions_);
  } else {
    if (source_.converged()) broker_.replay_converged();
    broker_.start(clock_.now_s(), actions_);
  }
  execute();
  flush_tells();
  show(Phase::running);
}

EngineResult Engine::run(Transport& transport, Recorder* recorder) {
  try {
    start(transport, recorder);
    while (!stopped()) {
      if (!turn() && !stopped()) transport.sleep(patience_s());
    }
    return finish();
  } catch (...) {
    options_.jobs->wait();  // it wakes the transport
    throw;
  }
}

bool Engine::turn() {
  bool any = transport_->receive(*this);
  any |= look_at_saved();
  any |= look_at_records();
  any |= look_at_job();
  if (const auto why = stop_requested_.exchange(StopReason::none); why != StopReason::none)
    feed(StopRequested{why}), any = true;
  if (offered_.exchange(false)) feed(Offered{}), any = true;
  if (!any && clock_.now_s() >= broker_.deadline_s()) feed(Tick{}), any = true;
  flush_tells();
  if (any) show(Phase::running);
  look_at_workers();
  return any;
}

double Engine::patience_s() const {
  return std::max(0.0, std::min(broker_.deadline_s(), underway_.next_look_s()) - clock_.now_s());
}

/// Shows which evaluation has run longest, and tells the recorder if that is worth a row in the store.
void Engine::look_at_workers() {
  const auto now_s = clock_.now_s();
  if (stopped() || !underway_.look(now_s)) return;
  show(Phase::running);
  if (recorder_ == nullptr) return;
  const auto& longest = underway_.longest();
  if (!longest) return recorder_->running({});
  recorder_->running(Running{longest->evaluation, longest->worker, wall_clock_s() - (now_s - longest->since_s)});
}

void Engine::request_stop(StopReason why) noexcept {
  stop_requested_ = why;
  if (auto* transport = awake_.load()) transport->wake();
}

void Engine::offer() noexcept {
  offered_ = true;
  if (auto* transport = awake_.load()) transport->wake();
}

EngineResult Engine::finish() {
  show(Phase::stopping);
  result_.evaluated_s += underway_.running_s(clock_.now_s());
  count_presence();
  flush_tells();
  if (recorder_ != nullptr) {
    if (is_final(result_.reason)) {
      CallRecord end;
      end.kind = CallKind::finish;
      end.note = word_of(result_.reason);
      push(std::move(end));
    }
    try {
      recorder_->close();
    } catch (const StoreError& e) {
      result_.reason = StopReason::error;
      result_.message = e.what();
      result_.store_failed = true;
    }
  }
  options_.jobs->wait();
  const auto told_in_journal = result_.counts.told;  // of an interrupted replay
  result_.counts = broker_.counts();
  result_.remark = source_.remark();
  result_.recommended = source_.recommendation();
  result_.counts.told = std::max(result_.counts.told, told_in_journal);
  transport_->close(is_final(result_.reason) ? std::numeric_limits<double>::infinity() : options_.close_grace_s);
  show(Phase::done);
  return result_;
}

void Engine::feed(const Event& event) {
  broker_.on(event, clock_.now_s(), actions_);
  execute();
}

void Engine::execute() {
  // An action may cause the next event; its actions are appended and executed in order.
  while (next_action_ < actions_.size()) {
    const Action action = actions_[next_action_++];
    std::visit([this](const auto& a) { execute(a); }, action);
  }
  actions_.clear();
  next_action_ = 0;
}

void Engine::execute(const Ask& a) {
  if (stopped()) return;  // the source has converged since the broker wanted candidates
  flush_tells();
  asked_.clear();
  const auto n = source_.ask(a.wanted, asked_);
  const EvaluationId first = n > 0 ? asked_.front().id : 0;
  const bool given = look_for_job();
  // If the source starts jobs, one without candidates may be what the next job depends on.
  if (recorder_ != nullptr && (n > 0 || any_job_)) {
    CallRecord call;
    call.kind = CallKind::ask;
    call.wanted = a.wanted;
    call.candidates = asked_;
    call.ids = saved_.forget_others(asked_);
    push(std::move(call));
  }
  for (auto& candidate : asked_) {
    const auto hash = hash_of(candidate);
    table_.add(std::move(candidate), hash);
  }
  if (given) broker_.on(JobGiven{job_->id}, clock_.now_s(), actions_);
  broker_.on(Asked{a.wanted, first, n, source_.finished()}, clock_.now_s(), actions_);
}

/// As if the workers had returned the outcomes that a rescue saved.
bool Engine::look_at_saved() {
  const auto sends = saved_.take_answered();
  for (const auto& a : sends) {
    if (stopped()) break;
    incoming_ = {saved_.take(a.id), a.id, a.worker, a.attempt};
    const auto& outcome = incoming_.outcome;
    feed(Arrived{a.worker, a.id, a.attempt, true, merit_of(outcome), -1, outcome.residuals.size()});
  }
  return !sends.empty();
}

void Engine::execute(const Send& a) {
  if (stopped()) return;
  if (saved_.answers(a)) return;
  encode(table_[a.id].candidate, scratch_);
  FrameHead head;
  head.study = options_.study;
  head.evaluation = a.id;
  head.epoch = options_.epoch;
  head.attempt = a.attempt;
  head.kind = FrameKind::evaluate;
  head.may_hold = a.may_hold;
  transport_->send(a.worker, head, scratch_);
  clear(scratch_);
  underway_.sent(a.worker, a.id, a.attempt, clock_.now_s());
}

void Engine::execute(const Record& a) {
  auto& entry = table_[a.id];
  std::swap(entry.outcome, incoming_.outcome);
  entry.worker = incoming_.worker;
  entry.attempt = incoming_.attempt;
  if (recorder_ != nullptr || options_.history) entry.at_s = wall_clock_s();
  if (recorder_ == nullptr) {
    record_tickets_.push_back(0);
    return;
  }
  OutcomeRecord record;
  record.evaluation = a.id;
  record.epoch = options_.epoch;
  record.attempt = entry.attempt;
  record.worker = entry.worker;
  record.at_s = entry.at_s;
  record.outcome = entry.outcome;
  record_tickets_.push_back(recorder_->push(std::move(record)));
}

void Engine::execute(const Fail& a) {
  const auto why = fmt::format("{} workers died while evaluating it; it is not repeated", a.workers_lost);
  incoming_ = {Outcome::failure(Status::crashed, why), a.id, a.worker, a.attempt};
}

void Engine::execute(const Tell& a) {
  auto& entry = table_[a.id];
  source_.tell(a.id, entry.outcome);
  if (source_.journalled()) {
    tells_.push_back(a.id);
    note(a.id, entry.outcome);
  }
  if (options_.history) remember(entry);
  close(a.id);
  announce_job();
  if (source_.converged()) broker_.on(Converged{}, clock_.now_s(), actions_);
}

void Engine::execute(const Cancel& a) {
  flush_tells();
  source_.cancel(a.id);
  close(a.id);
  announce_job();
  if (recorder_ == nullptr) return;
  CallRecord call;
  call.kind = CallKind::cancel;
  call.ids = {a.id};
  push(std::move(call));
}

void Engine::execute(const Differ& a) {
  result_.message = fmt::format(
      "evaluation {} returned {} residuals, but evaluation {} returned {}; all evaluations must return the same "
      "number: "
      "if there is no value, return NaN or raise an exception",
      a.other, a.residuals_of_other, a.first, a.residuals_of_first);
}

void Engine::close(EvaluationId id) {
  table_.close(id);
  underway_.closed(id);
}

void Engine::execute(const StartJob& a) {
  assert(job_ && job_->id == a.job);
  options_.jobs->start(*job_);
}

void Engine::execute(const Adopt& a) {
  flush_tells();
  job_.reset();
  source_.adopt(a.job, job_result_.bytes);
  announce_job();
  if (recorder_ == nullptr) return;
  CallRecord call;
  call.kind = CallKind::adopt;
  call.wanted = a.job;
  push(std::move(call));
}

void Engine::execute(const Resize& a) {
  if (source_.generational()) return;
  flush_tells();
  source_.resize(a.workers);
  announce_job();
  if (recorder_ == nullptr) return;
  CallRecord call;
  call.kind = CallKind::resize;
  call.wanted = a.workers;
  push(std::move(call));
}

void Engine::execute(const Stop& a) {
  result_.reason = a.reason;
  if (result_.message.empty()) result_.message = why(a.reason);
}

std::string Engine::why(StopReason reason) const {
  if (reason == StopReason::all_failed) {
    return fmt::format("the first {} evaluations of this start all failed; {}", broker_.counts().told - told_before_,
                       result_.first_failure);
  }
  if (reason == StopReason::failure) return describe(incoming_.id, incoming_.outcome);
  if (reason != StopReason::error) return {};
  if (broker_.counts().workers == 0) return "no worker is left: " + progress().last_loss;
  return "the optimizer proposes no candidate, although it knows every outcome";
}

void Engine::push(CallRecord call) {
  call.recommended = source_.recommendation();
  recorder_->push(std::move(call));
}

void Engine::flush_tells() {
  if (tells_.empty()) return;
  if (recorder_ != nullptr) {
    CallRecord call;
    call.kind = CallKind::tell;
    call.ids = tells_;
    push(std::move(call));
  }
  tells_.clear();
}

bool Engine::look_at_records() {
  if (record_tickets_.empty() || stopped()) return false;
  std::size_t done = record_tickets_.size();
  if (recorder_ != nullptr) {
    if (auto error = recorder_->error(); !error.empty()) {
      result_.message = std::move(error);
      result_.store_failed = true;
      feed(RecordFailed{});
      return true;
    }
    const auto durable = recorder_->durable();
    done = static_cast<std::size_t>(std::upper_bound(record_tickets_.begin(), record_tickets_.end(), durable) -
                                    record_tickets_.begin());
  }
  if (done == 0) return false;
  record_tickets_.erase(record_tickets_.begin(), record_tickets_.begin() + static_cast<std::ptrdiff_t>(done));
  recorded_ += done;
  feed(Recorded{recorded_});
  return true;
}

/// True: there is a new one, in job_.
bool Engine::look_for_job() {
  auto job = source_.next_job();
  if (!job) return false;
  job_ = std::move(job);
  any_job_ = true;
  return true;
}

void Engine::announce_job() {
  if (look_for_job()) broker_.on(JobGiven{job_->id}, clock_.now_s(), actions_);
}

bool Engine::look_at_job() {
  if (stopped()) return false;
  auto result = options_.jobs->take();
  if (!result) return false;
  job_result_ = std::move(*result);
  if (!job_result_.error.empty()) result_.message = job_result_.error;
  feed(JobDone{job_result_.id, job_result_.error.empty()});
  return true;
}

void Engine::note(EvaluationId id, const Outcome& outcome) {
  if (!outcome.ok() && result_.first_failure.empty()) result_.first_failure = describe(id, outcome);
  result_.front.add(table_[id].candidate, outcome);
  if (!outcome.ok() || (result_.has_best && !better(outcome, result_.best_outcome))) return;
  result_.has_best = true;
  result_.best = table_[id].candidate;
  result_.best_outcome = outcome;
}

/// The entry is closed afterwards.
void Engine::remember(EvaluationEntry& entry) {
  options_.history->add({std::move(entry.candidate), std::move(entry.outcome), options_.epoch, entry.worker,
                         entry.attempt, entry.at_s, 0});
}

void Engine::show(Phase phase) {
  const auto& c = broker_.counts();
  Progress p;
  p.phase = phase;
  p.evaluations = c.told;
  p.told_here = phase == Phase::replaying ? 0 : c.told - told_before_;
  p.budget = options_.broker.rules.evaluations;
  if (result_.has_best) p.best_value = result_.best_outcome.value;
  p.busy = c.busy;
  p.workers = c.workers;
  p.failed = c.failed;
  p.retried = c.retried;
  p.lost = c.lost;
  if (const auto& longest = underway_.longest()) p.oldest = longest->evaluation, p.oldest_since_s = longest->since_s;
  board_.write(p);
}

}  // namespace culmen
