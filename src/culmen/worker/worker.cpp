#include "culmen/worker/worker.hpp"

#include <fmt/format.h>

#include <limits>
#include <thread>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/readable.hpp"

namespace culmen {

Worker::Worker(EvaluatorFactory factory) : factory_(std::move(factory)) {}

const Worker::Reply& Worker::on(const FrameHead& head, BytesView body) {
  reply_.head = head;
  clear(reply_.body);
  switch (head.kind) {
    case FrameKind::set_up:
      set_up(body);
      break;
    case FrameKind::evaluate:
      evaluate(head, body);
      break;
    default:
      throw Error(fmt::format("a worker got a frame of kind {}; it takes a set-up or a candidate",
                              static_cast<std::uint32_t>(head.kind)));
  }
  return reply_;
}

void Worker::set_up(BytesView body) {
  reply_.head.kind = FrameKind::hello;
  std::shared_ptr<Evaluator> evaluator;
  try {
    set_up_ = decode_set_up(body);
    evaluator = factory_(set_up_);
    {
      const std::lock_guard lock(mutex_);
      evaluator_ = evaluator;
      if (interrupted_) evaluator->interrupt();
    }
    evaluator->prepare();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    evaluator_.reset();
    write_sentence(error.what());
  }
}

void Worker::write_sentence(std::string sentence) {
  make_readable(sentence);
  ByteWriter(reply_.body).raw(sentence.data(), sentence.size());
}

void Worker::evaluate(const FrameHead& head, BytesView body) {
  if (!evaluator_) throw Error(fmt::format("evaluation {} came before a set-up that worked", head.evaluation));
  decode(body, candidate_);
  if (candidate_.x.size() != set_up_.space.size()) {
    throw Error(fmt::format("evaluation {} came with {} values; the space has {} parameters", head.evaluation,
                            candidate_.x.size(), set_up_.space.size()));
  }
  const auto hash = hash_of(candidate_);
  const double violation = set_up_.space.violation(candidate_.x);
  set_up_.space.put_inactive(candidate_.x, std::numeric_limits<double>::quiet_NaN());
  Outcome outcome;
  try {
    outcome = evaluator_->evaluate(candidate_, head.attempt);
  } catch (const ResourceError& error) {
    reply_.head.kind = FrameKind::trouble;
    return write_sentence(error.what());
  }
  outcome.violation = violation;
  judge(outcome, set_up_.goals, set_up_.evaluator.result == ResultKind::figures);
  make_readable(outcome.message);
  for (auto& [name, figure] : outcome.extras) make_readable(name);
  reply_.head.kind = FrameKind::result;
  ByteWriter(reply_.body).u64(hash);
  encode(outcome, reply_.body);
}

void Worker::interrupt() noexcept {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  if (evaluator_) evaluator_->interrupt();
}

namespace {
/// Interrupts the worker when the master closes; its thread ends with this object.
class CloseWatch {
 public:
  CloseWatch(Endpoint& endpoint, Worker& worker) : endpoint_(endpoint) {
    thread_ = std::thread([&endpoint, &worker] {
      endpoint.wait_closed();
      if (endpoint.closed()) worker.interrupt();
    });
  }
  ~CloseWatch() {
    endpoint_.release();
    thread_.join();
  }
  CloseWatch(const CloseWatch&) = delete;

 private:
  Endpoint& endpoint_;
  std::thread thread_;
};

void answer_all(Endpoint& endpoint, Worker& worker) {
  FrameHead head;
  Bytes body;
  while (endpoint.receive(head, body)) {
    const auto& reply = worker.on(head, body);
    if (!endpoint.send(reply.head, reply.body)) return;
    clear(body);
  }
}
}  // namespace

std::string serve(Endpoint& endpoint, Worker& worker) {
  try {
    const CloseWatch watch(endpoint, worker);
    answer_all(endpoint, worker);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace culmen
