// Frames on a ring: a frame that is larger than a record travels in several, which the reader joins.
#pragma once
#include "culmen/transport/mailbox/ring.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

inline constexpr std::size_t largest_body_bytes = std::size_t{1} << 30;

/// An outgoing frame. Writes as many records as fit, in as many calls as are needed.
class FrameWriter {
 public:
  explicit FrameWriter(const RingView& ring) : producer_(ring) {}
  enum class Result { whole, full, damaged };
  /// Continues at `written` (0 for a new frame), which counts bytes of head and body that are in the ring. The caller
  /// rings if it grew.
  Result write(const FrameHead& head, BytesView body, std::size_t& written);
  /// After `full`: the space for the next record of that frame.
  std::uint32_t wanted_bytes() const { return wanted_bytes_; }
  const RingProducer& producer() const { return producer_; }

 private:
  RingProducer producer_;
  std::uint32_t wanted_bytes_ = 0;
};

/// Incoming frames.
class FrameReader {
 public:
  explicit FrameReader(const RingView& ring) : consumer_(ring) {}
  enum class Result { nothing, part, frame, damaged };
  void refresh() { consumer_.refresh(); }
  /// Reads one record. After `frame`: head and body, valid until pop(); a body that is whole in the ring is not
  /// copied. pop() follows `part` and `frame`.
  Result next(FrameHead& head, BytesView& body);
  void pop();
  /// Returns space when it has consumed a quarter of the ring, or when nothing more is there.
  bool owes_much() const { return consumer_.owed() >= consumer_.ring().size / 4; }
  RingConsumer& consumer() { return consumer_; }

 private:
  RingConsumer consumer_;
  RingConsumer::Record record_;
  Bytes assembled_;  // head and body of a frame in several records
  bool assembling_ = false;
};

}  // namespace culmen
