// The worker: receives frames, evaluates, answers. Real transports and the simulation run the same code.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "culmen/evaluation/judge.hpp"
#include "culmen/transport/transport.hpp"
#include "culmen/worker/make_evaluator.hpp"

namespace culmen {

using EvaluatorFactory = std::function<std::unique_ptr<Evaluator>(const SetUp&)>;

/// One worker's reaction to one frame. Apart from the evaluator it has no side effects.
class Worker {
 public:
  explicit Worker(EvaluatorFactory factory = make_evaluator);
  struct Reply {
    FrameHead head;
    Bytes body;
  };
  struct Frame {
    FrameHead head;
    Bytes body;
  };
  /// set_up -> hello (body: empty, or why it cannot work); evaluate -> result (head copied, body: u64 hash of the
  /// candidate, encoded outcome). The reply is valid until the next call. Throws Error for any other frame, for a
  /// candidate that does not fit the space, and for a damaged one. `upcoming`: see Evaluator::evaluate_ahead.
  const Reply& on(const FrameHead& head, BytesView body, Upcoming* upcoming = nullptr);
  /// The reply is not needed any more: frees its memory if it is large.
  void release() { clear(reply_.body); }
  /// Reads the frame of the following call. Null if it is no candidate. Throws as on() does.
  const Request* expect(const Frame& next);
  /// How many candidates on_batch() takes together; at least 1.
  std::size_t batch() const { return evaluator_ ? evaluator_->batch() : 1; }
  /// The same for several frames `evaluate`, at most batch(). Returns their replies in the same order.
  std::span<const Reply> on_batch(std::span<const Frame> frames);
  /// Any thread; see Evaluator::interrupt.
  void interrupt() noexcept;

 private:
  void set_up(BytesView body);
  void evaluate(const FrameHead& head, BytesView body, Upcoming* upcoming);
  struct Task {
    std::uint64_t hash;
    double violation;
  };
  Task read(const FrameHead& head, BytesView body, Candidate& candidate) const;
  Task take(const FrameHead& head, BytesView body);
  void write(Outcome& outcome, const Candidate& candidate, const Task& task, Reply& reply) const;
  static void write_sentence(std::string sentence, Reply& reply);

  EvaluatorFactory factory_;
  std::mutex mutex_;  // guards what on(set_up) writes and interrupt() reads: the next two
  std::shared_ptr<Evaluator> evaluator_;
  bool interrupted_ = false;
  SetUp set_up_;
  Space whole_;  // of the set-up: evaluators receive fixed parameters, too
  Judge judge_;
  Candidate candidate_;
  Request expected_;                   // the content of a frame to come
  std::optional<Task> expected_task_;  // empty: no frame is expected
  Reply reply_;
  std::vector<Request> requests_;
  std::vector<Reply> replies_;
};

/// Receives, works and answers until the master closes. A second thread waits for this and interrupts the evaluation.
/// Returns an empty text then. If a frame cannot be read, or the worker cannot continue for another reason, it returns
/// why: the caller then ends the worker by destroying its endpoint.
[[nodiscard]] std::string serve(Endpoint& endpoint, Worker& worker);

}  // namespace culmen
