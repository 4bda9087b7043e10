// One direction between two processes: a single-producer single-consumer ring of bytes in shared memory.
//
// `tail` and `head` count bytes, modulo 2^32, and only grow. A record is {u32 bytes, u32 flags}, then the payload,
// padded to 8 bytes; it may wrap. The tail moves once the record is whole, so that a producer killed at any moment
// leaves nothing half-visible. Neither side trusts the other: each keeps its own counter privately and checks the
// other's.
#pragma once
#include <cstddef>

#include "culmen/base/bytes.hpp"
#include "culmen/transport/mailbox/door.hpp"

namespace culmen {

/// The memory of one ring, as one process sees it.
struct RingView {
  RingWords words;
  std::byte* data;
  std::uint32_t size;  ///< a power of two

  static constexpr std::uint32_t overhead_bytes = 8;
  static constexpr std::uint32_t record_bytes(std::uint32_t payload) { return overhead_bytes + ((payload + 7) & ~7u); }
  /// Largest payload of one record; a quarter of the ring, so that both sides can work in parallel.
  std::uint32_t largest_payload() const { return size / 4 - overhead_bytes; }
};

struct FragmentFlags {
  static constexpr std::uint32_t first = 1, last = 2;
};

class RingProducer {
 public:
  explicit RingProducer(const RingView& ring) : ring_(ring) {}
  enum class Room { yes, no, damaged };
  Room room(std::uint32_t payload);
  /// Writes and publishes one record whose payload is `a` then `b`. Needs room(a + b) == yes.
  void put(std::uint32_t flags, BytesView a, BytesView b);
  const RingView& ring() const { return ring_; }
  std::uint32_t tail() const { return tail_; }

 private:
  void copy_in(std::uint32_t at, BytesView bytes);
  RingView ring_;
  std::uint32_t tail_ = 0;
  std::uint32_t head_seen_ = 0;
};

class RingConsumer {
 public:
  explicit RingConsumer(const RingView& ring) : ring_(ring) {}
  enum class Look { empty, record, damaged };
  struct Record {
    bool first = false, last = false;
    BytesView a, b;  ///< the payload; b is the part that wrapped
  };
  /// Reads the producer's counter: look() sees records up to it.
  void refresh() { tail_seen_ = ring_.words.tail->load(std::memory_order_acquire); }
  /// The oldest record that refresh() saw.
  Look look(Record& record) const;
  /// Removes that record.
  void pop(const Record& record) {
    head_ += RingView::record_bytes(static_cast<std::uint32_t>(record.a.size() + record.b.size()));
  }
  const RingView& ring() const { return ring_; }
  std::uint32_t head() const { return head_; }
  /// Bytes popped and not yet returned to the producer (see GiveSpace).
  std::uint32_t owed() const { return head_ - given_; }
  void mark_given() { given_ = head_; }

 private:
  RingView ring_;
  std::uint32_t head_ = 0;
  std::uint32_t given_ = 0;
  std::uint32_t tail_seen_ = 0;
};

}  // namespace culmen
