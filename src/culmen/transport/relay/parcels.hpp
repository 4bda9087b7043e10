// The messages of a line between master and relay. A message contains all parcels that wait for it.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "culmen/base/ids.hpp"
#include "culmen/transport/line.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

enum class ParcelKind : std::uint32_t {
  frame = 1,   ///< either way: a FrameHead and a body
  joined = 2,  ///< relay -> master: this worker
  lost = 3,    ///< relay -> master: this worker, with a sentence
  close = 4,   ///< master -> relay: f64 seconds that the workers have to leave
  closed = 5,  ///< relay -> master, its last parcel: u64 workers that have not left
  alive = 6,   ///< either way, for heartbeats: nothing follows from it yet
};

struct Parcel {
  WorkerId worker;  ///< the relay's number for it
  ParcelKind kind;
  BytesView content;
};

/// Of a parcel of kind `frame`. Throws Error if it is shorter than a head.
std::pair<FrameHead, BytesView> frame_in(const Parcel& parcel);

/// Parcels on their way to one peer. Those of one worker keep their order; a large one travels in fragments, between
/// which other workers' parcels travel. Parcels that are added while the line is busy share the next message.
class Outbox {
 public:
  void add(WorkerId worker, ParcelKind kind, BytesView first = {}, BytesView second = {});
  void add_frame(WorkerId worker, const FrameHead& head, BytesView body) {
    add(worker, ParcelKind::frame, std::as_bytes(std::span(&head, 1)), body);
  }
  /// Sends as many messages as the line takes.
  void flush(Line& line, std::size_t peer);
  void clear();
  bool empty() const { return message_.empty() && turns_.empty(); }
  std::size_t queued_bytes() const { return queued_bytes_; }
  std::uint64_t messages() const { return messages_; }  ///< that were sent

 private:
  struct Waiting {
    ParcelKind kind;
    Bytes content;
    std::size_t written = 0;
  };
  void append(WorkerId worker, ParcelKind kind, bool whole, BytesView first, BytesView second);
  void fill();
  Bytes message_;                            // is filled until the line takes it
  std::vector<std::deque<Waiting>> queues_;  // by worker
  std::deque<WorkerId> turns_;               // workers with a queue
  std::size_t queued_bytes_ = 0;
  std::uint64_t messages_ = 0;
};

/// Joins the fragments of one peer's parcels.
class Inbox {
 public:
  /// Calls `take` for every parcel that is whole now. Its content is valid during the call. Throws Error for a message
  /// that Outbox does not make, or for a worker that is
  /// not below `workers`. (Parcels of no worker, close and closed, have worker 0.)
  void read(BytesView message, std::size_t workers, const std::function<void(const Parcel&)>& take);

 private:
  std::vector<Bytes> begun_;  // by worker
};

}  // namespace culmen
