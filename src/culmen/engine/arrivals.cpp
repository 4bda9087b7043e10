// The engine's side of the transport: frames from workers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "culmen/base/error.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/evaluation/goals.hpp"

namespace culmen {
namespace {

/// A worker checks its outcomes before it sends them. Whoever sends others is no worker of culmen, or is damaged.
void check(const Outcome& outcome, std::optional<std::size_t> values) {
  if (!std::isfinite(outcome.duration_s)) throw Error(fmt::format("its duration is {} s", outcome.duration_s));
  if (!outcome.ok()) return;
  if (outcome.violation < 0) throw Error(fmt::format("its violation is {}", outcome.violation));
  if (values && outcome.values.size() != *values)
    throw Error(fmt::format("it has {} values of objectives instead of {}", outcome.values.size(), *values));
  if (const auto fault = outcome.not_finite(); !fault.empty()) throw Error(fault);
}

}  // namespace

void Engine::joined(WorkerId worker) {
  FrameHead head;
  head.study = options_.study;
  head.epoch = options_.epoch;
  head.kind = FrameKind::set_up;
  transport_->send(worker, head, options_.set_up);
}

void Engine::leaving(WorkerId worker) {
  if (!stopped()) feed(Leaving{worker});
}

void Engine::lost(WorkerId worker, const std::string& why) {
  if (stopped()) return;
  if (worker < first_visitor_ && !was_ready(worker)) {
    result_.message = "a worker was lost before it was ready: " + why;
    return feed(StopRequested{StopReason::set_up});
  }
  result_.evaluated_s += underway_.lost(worker, clock_.now_s());
  board_.say_loss(why);
  feed(Lost{worker, worker < first_visitor_ || options_.visitors_are_to_blame});
  count_presence();
}

void Engine::arrived(WorkerId worker, const FrameHead& head, BytesView body) {
  if (stopped()) return;
  if (head.study != options_.study || head.epoch != options_.epoch) return stray(worker);
  if (head.kind == FrameKind::hello && body.empty()) ready(worker);
  if (head.kind == FrameKind::hello && !body.empty()) end_with(worker, StopReason::set_up, body);
  if (head.kind == FrameKind::trouble) end_with(worker, StopReason::error, body);
  if (head.kind == FrameKind::result) arrived_result(worker, head, body);
}

/// Until a worker is ready, it may still answer a former study or a former start of this one. Later it would seem busy
/// for ever.
void Engine::stray(WorkerId worker) {
  if (was_ready(worker)) turn_away(worker, "answered for another study");
}

/// It gets no more work.
void Engine::turn_away(WorkerId worker, const std::string& why) {
  transport_->turn_away(worker, "it " + why);
  lost(worker, fmt::format("worker {} {}", worker, why));
}

void Engine::ready(WorkerId worker) {
  if (worker >= were_ready_.size()) were_ready_.resize(worker + 1);
  were_ready_[worker] = true;
  feed(Joined{worker});
  count_presence();
}

/// After the number of workers has changed, and at the end.
void Engine::count_presence() {
  const auto now_s = clock_.now_s();
  if (first_ready_s_ < 0 && broker_.counts().workers > 0) first_ready_s_ = now_s;
  result_.present_s += present_ * (now_s - present_since_s_);
  if (first_ready_s_ >= 0) result_.served_s = now_s - first_ready_s_;
  present_ = broker_.counts().workers;
  present_since_s_ = now_s;
}

bool Engine::was_ready(WorkerId worker) const { return worker < were_ready_.size() && were_ready_[worker]; }

/// A worker cannot evaluate.
void Engine::end_with(WorkerId worker, StopReason reason, BytesView sentence) {
  const auto why = text_in(sentence);
  if (worker >= first_visitor_) return lost(worker, why);
  result_.message = why;
  feed(StopRequested{reason});
}

void Engine::arrived_result(WorkerId worker, const FrameHead& head, BytesView body) {
  auto& outcome = incoming_.outcome;
  try {
    ByteReader reader(body);
    const auto hash = reader.u64();
    if (table_.has(head.evaluation) && table_.hash(head.evaluation) != hash)
      return turn_away(worker, "answered for another candidate");
    decode(body.subspan(sizeof(hash)), outcome);
    check(outcome, options_.values);
  } catch (const Error& e) {
    const auto why = fmt::format("sent an answer that cannot be read: {}", e.what());
    if (worker >= first_visitor_) return turn_away(worker, why);
    outcome = Outcome::failure(Status::wrong_shape, fmt::format("worker {} {}", worker, why));
  }
  incoming_.id = head.evaluation;
  incoming_.worker = worker;
  incoming_.attempt = head.attempt;
  result_.evaluated_s +=
      underway_.returned(worker, head.evaluation, head.attempt, std::max(0.0, outcome.duration_s), clock_.now_s());
  const double duration_s = source_.evaluated(outcome) ? outcome.duration_s : -1;
  feed(Arrived{worker, head.evaluation, head.attempt, outcome.ok(), merit_of(outcome), duration_s,
               outcome.residuals.size(), outcome.status == Status::wrong_shape});
}

}  // namespace culmen
