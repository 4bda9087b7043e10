// Frames between the master and its workers. A transport knows nothing of spaces or outcomes.
#pragma once
#include <cstdint>
#include <limits>
#include <string>

#include "culmen/base/bytes.hpp"
#include "culmen/base/ids.hpp"

namespace culmen {

enum class FrameKind : std::uint32_t {
  set_up = 1,    ///< master -> worker, once: the evaluator's set-up
  hello = 2,     ///< worker -> master: ready (empty body), or why not (a sentence)
  evaluate = 3,  ///< master -> worker: a candidate
  result = 4,    ///< worker -> master: an outcome
  trouble = 5,   ///< worker -> master: it cannot evaluate anything now (a sentence)
  renew = 6,     ///< master -> members of a team, after an evaluation that failed: take another communicator
};

/// Travels in front of the body, unchanged.
struct FrameHead {
  std::uint64_t study = 0;
  EvaluationId evaluation = 0;
  Epoch epoch = 0;
  Attempt attempt = 0;
  FrameKind kind = FrameKind::evaluate;
  std::uint32_t may_hold = 0;  ///< of a candidate: results that the worker may send later, together
};
static_assert(sizeof(FrameHead) == 32);

/// The master's side. One thread (the engine's) calls everything but wake().
class Transport {
 public:
  /// Receives events, inside receive(). A body is valid during the call only.
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void joined(WorkerId worker) = 0;
    virtual void arrived(WorkerId worker, const FrameHead& head, BytesView body) = 0;
    /// This worker takes no more work; what it has may still end.
    virtual void leaving(WorkerId /*worker*/) {}
    /// No more frames come from this worker; its finished outcomes were delivered before.
    virtual void lost(WorkerId worker, const std::string& why) = 0;
  };
  virtual ~Transport() = default;

  /// Queues a frame of any size and returns; never blocks on the worker. To a lost worker: dropped.
  virtual void send(WorkerId worker, const FrameHead& head, BytesView body) = 0;
  /// Delivers waiting frames (in bounded portions); false if there were none.
  virtual bool receive(Sink& sink) = 0;
  /// Returns when there may be something to receive, when wake() was called since the last sleep, or after at_most_s
  /// seconds (infinity: no time-out).
  virtual void sleep(double at_most_s) = 0;
  /// Messages of this transport do not wake a thread that sleeps in another transport. Such a thread must call
  /// receive() again after this number of seconds.
  virtual double look_again_s() const { return std::numeric_limits<double>::infinity(); }
  /// Ends a concurrent or the next sleep(). Any thread, and a signal handler.
  virtual void wake() noexcept = 0;
  /// Tells a worker that it gets no more work and must leave, with a clause on what it did ("it …"). Nothing happens if
  /// this transport cannot. The transport may still report it as lost.
  virtual void turn_away(WorkerId /*worker*/, const std::string& /*why*/) {}
  /// Tells every worker to stop its evaluation and leave, and returns at once; close() must follow. False: this
  /// transport cannot, so that close() tells them.
  virtual bool dismiss() { return false; }
  /// Tells every worker to stop its evaluation and leave; waits at most grace_s for that, then drops those that
  /// remain. Frames not yet delivered are lost.
  virtual void close(double grace_s) = 0;
};

/// The worker's side.
class Endpoint {
 public:
  virtual ~Endpoint() = default;
  /// Sleeps until a frame arrives and moves it into head and body; false if the master has closed or is gone.
  /// Worker's thread.
  virtual bool receive(FrameHead& head, Bytes& body) = 0;
  /// The same without sleeping: false also if there is no whole frame. Worker's thread.
  virtual bool try_receive(FrameHead& head, Bytes& body) = 0;
  /// For poll(): a descriptor that is readable once a frame arrives after this call; -1 if this endpoint has none.
  /// Worker's thread.
  virtual int arrivals() { return -1; }
  /// Sleeps while the ring is full; false if the master has closed or is gone. An endpoint may hold results while many
  /// candidates wait there, for a short time. Worker's thread.
  virtual bool send(const FrameHead& head, BytesView body) = 0;
  /// Sends what it holds. Worker's thread.
  virtual void hand_in() {}
  /// Sleeps until the master closes or is gone, or until release() was called. For a second thread of the worker,
  /// which then interrupts the evaluation.
  virtual void wait_closed() = 0;
  /// Ends wait_closed() from this side. Any thread.
  virtual void release() noexcept = 0;
  virtual bool closed() const noexcept = 0;
};

}  // namespace culmen
