// The worker's side of the connection to a slot; see channel.hpp.
#pragma once
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include "culmen/worker/core/evaluator.hpp"
#include "culmen/worker/process/child.hpp"
#include "culmen/worker/slot/channel.hpp"

namespace culmen {

/// Names a request to a slot, and its answer.
struct SlotLabel {
  EvaluationId evaluation = 0;
  Attempt attempt = 0;
  bool operator==(const SlotLabel&) const = default;
};

Bytes request_frame(const Request& request);
Bytes batch_frame(std::span<const Request> requests);

/// One end of a socket between a worker and its slot.
class SlotSocket {
 public:
  /// Both ends of a new one. Throws Error.
  static std::pair<SlotSocket, SlotSocket> make_pair();
  SlotSocket(SlotSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~SlotSocket();
  int fd() const { return fd_; }

 private:
  explicit SlotSocket(int fd) : fd_(fd) {}
  int fd_;
};

/// Frames on their way to a slot.
class SlotOutbox {
 public:
  void add(Bytes frame) { frames_.emplace_back(std::move(frame)); }
  bool empty() const { return frames_.empty(); }
  /// Writes without sleeping. Drops the frames that the child does not take any more: its answer, or its end, is still
  /// to be read.
  ChannelProgress write_some(const SlotSocket& to);

 private:
  struct Outgoing {
    explicit Outgoing(Bytes bytes) : frame(std::move(bytes)), writer(frame) {}
    Outgoing(const Outgoing&) = delete;
    Bytes frame;
    ChannelWriter writer;
  };
  std::deque<Outgoing> frames_;
};

/// The state that belongs to one child.
struct SlotConnection {
  explicit SlotConnection(SlotSocket ours) : socket(std::move(ours)) {}
  SlotSocket socket;
  ChildLog log;
  ChannelReader reader;
  SlotOutbox outbox;
  std::optional<SlotLabel> ahead;  ///< of the request that was sent behind the current one
};

}  // namespace culmen
