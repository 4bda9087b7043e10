#include "culmen/worker/worker.hpp"

#include <fmt/format.h>

#include <limits>
#include <thread>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/worker/core/readable.hpp"

namespace culmen {

Worker::Worker(EvaluatorFactory factory) : factory_(std::move(factory)) {}

const Worker::Reply& Worker::on(const FrameHead& head, BytesView body, Upcoming* upcoming) {
  reply_.head = head;
  clear(reply_.body);
  switch (head.kind) {
    case FrameKind::set_up:
      set_up(body);
      break;
    case FrameKind::evaluate:
      evaluate(head, body, upcoming);
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
    whole_ = set_up_.space.whole();
    judge_ = Judge(set_up_.goals, set_up_.space);
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
    write_sentence(error.what(), reply_);
  }
}

void Worker::write_sentence(std::string sentence, Reply& reply) {
  make_readable(sentence);
  ByteWriter(reply.body).raw(sentence.data(), sentence.size());
}

Worker::Task Worker::read(const FrameHead& head, BytesView body, Candidate& candidate) const {
  if (!evaluator_) throw Error(fmt::format("evaluation {} arrived before a successful set-up", head.evaluation));
  decode(body, candidate);
  if (candidate.x.size() != set_up_.space.size()) {
    throw Error(fmt::format("evaluation {} came with {} values; the space has {} parameters", head.evaluation,
                            candidate.x.size(), set_up_.space.size()));
  }
  const Task task{hash_of(candidate), set_up_.space.violation(candidate.x)};
  if (whole_.size() > candidate.x.size()) candidate.x = set_up_.space.spread(candidate.x);
  whole_.put_inactive(candidate.x, std::numeric_limits<double>::quiet_NaN());
  return task;
}

void Worker::write(Outcome& outcome, const Candidate& candidate, const Task& task, Reply& reply) const {
  outcome.violation = task.violation;
  judge_.complete(outcome, candidate.x, set_up_.evaluator.result == ResultKind::figures);
  evaluator_->judged(outcome);
  make_readable(outcome.message);
  for (auto& [name, figure] : outcome.extras) make_readable(name);
  reply.head.kind = FrameKind::result;
  ByteWriter(reply.body).u64(task.hash);
  encode(std::move(outcome), reply.body);
}

/// Reads the frame into candidate_, if expect() has not read it.
Worker::Task Worker::take(const FrameHead& head, BytesView body) {
  const auto expected = std::exchange(expected_task_, {});
  if (!expected || expected_.candidate.id != head.evaluation || expected_.attempt != head.attempt)
    return read(head, body, candidate_);
  std::swap(candidate_, expected_.candidate);
  return *expected;
}

const Request* Worker::expect(const Frame& next) {
  if (next.head.kind != FrameKind::evaluate) return nullptr;
  expected_task_ = read(next.head, next.body, expected_.candidate);
  expected_.attempt = next.head.attempt;
  return &expected_;
}

void Worker::evaluate(const FrameHead& head, BytesView body, Upcoming* upcoming) {
  const auto task = take(head, body);
  try {
    auto outcome = upcoming != nullptr ? evaluator_->evaluate_ahead(candidate_, head.attempt, *upcoming)
                                       : evaluator_->evaluate(candidate_, head.attempt);
    write(outcome, candidate_, task, reply_);
  } catch (const ResourceError& error) {
    reply_.head.kind = FrameKind::trouble;
    write_sentence(error.what(), reply_);
  }
}

std::span<const Worker::Reply> Worker::on_batch(std::span<const Frame> frames) {
  if (frames.size() == 1) return {&on(frames[0].head, frames[0].body), 1};
  requests_.resize(frames.size());
  replies_.resize(frames.size());
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto& head = frames[i].head;
    if (head.kind != FrameKind::evaluate)
      throw Error(
          fmt::format("a worker got a frame of kind {} among candidates", static_cast<std::uint32_t>(head.kind)));
    tasks.push_back(read(head, frames[i].body, requests_[i].candidate));
    requests_[i].attempt = head.attempt;
    replies_[i] = {head, {}};
  }
  try {
    auto outcomes = evaluator_->evaluate_batch(requests_);
    for (std::size_t i = 0; i < frames.size(); ++i) write(outcomes[i], requests_[i].candidate, tasks[i], replies_[i]);
    return replies_;
  } catch (const ResourceError& error) {
    replies_[0].head.kind = FrameKind::trouble;
    write_sentence(error.what(), replies_[0]);
    return {replies_.data(), 1};
  }
}

void Worker::interrupt() noexcept {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  if (evaluator_) evaluator_->interrupt();
}

namespace {
/// Interrupts the worker when the master closes. Its thread ends with this object.
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

/// The frame behind the one that the worker answers.
class Following final : public Upcoming {
 public:
  Following(Endpoint& endpoint, Worker& worker) : endpoint_(endpoint), worker_(worker) {}

  /// Sleeps until there is one; false if the master has closed or is gone.
  bool receive(Worker::Frame& frame) {
    if (!std::exchange(has_frame_, false)) return endpoint_.receive(frame.head, frame.body);
    std::swap(frame, frame_);
    clear(frame_.body);
    return true;
  }

  const Request* next() override {
    if (has_frame_ || damaged_) return request_;
    request_ = nullptr;
    try {
      has_frame_ = endpoint_.try_receive(frame_.head, frame_.body);
      if (has_frame_) request_ = worker_.expect(frame_);
    } catch (const Error&) {  // it will end the worker, after the current evaluation
      damaged_ = true;
    }
    return request_;
  }

  int arrivals() override { return has_frame_ || damaged_ ? -1 : endpoint_.arrivals(); }

 private:
  Endpoint& endpoint_;
  Worker& worker_;
  Worker::Frame frame_;
  bool has_frame_ = false, damaged_ = false;
  const Request* request_ = nullptr;
};

/// Takes the frames that have arrived, up to a batch. Never waits for more.
void answer_batch(Endpoint& endpoint, Worker& worker, Worker::Frame first) {
  std::vector<Worker::Frame> frames;
  frames.push_back(std::move(first));
  Worker::Frame next;
  while (frames.size() < worker.batch() && endpoint.try_receive(next.head, next.body))
    frames.push_back(std::move(next));
  for (const auto& reply : worker.on_batch(frames))
    if (!endpoint.send(reply.head, reply.body)) return;
  endpoint.hand_in();  // the next batch takes long
}

void answer_all(Endpoint& endpoint, Worker& worker) {
  Following following(endpoint, worker);
  Worker::Frame frame;
  while (following.receive(frame)) {
    if (frame.head.kind == FrameKind::evaluate && worker.batch() > 1) {
      answer_batch(endpoint, worker, std::move(frame));
      continue;
    }
    const auto& reply = worker.on(frame.head, frame.body, &following);
    if (!endpoint.send(reply.head, reply.body)) return;
    worker.release();
  }
}
}  // namespace

std::string serve(Endpoint& endpoint, Worker& worker) {
  std::string why;
  try {
    const CloseWatch watch(endpoint, worker);
    answer_all(endpoint, worker);
  } catch (const std::exception& error) {
    why = error.what();
  }
  endpoint.hand_in();
  return why;
}

}  // namespace culmen
