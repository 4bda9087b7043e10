// Frames on a ring: what is larger than a record travels in several and is put together by the reader.
#pragma once
#include "culmen/transport/mailbox/ring.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

inline constexpr std::size_t largest_body_bytes = std::size_t{1} << 30;

/// A frame on its way out. Writes as many records as fit, in as many calls as it takes.
class FrameWriter {
 public:
  explicit FrameWriter(const RingView& ring) : producer_(ring) {}
  enum class Result { whole, full, damaged };
  /// Goes on at `written` (0 for a new frame), which counts the bytes of head and body that are in the ring. The caller
  /// rings when it grew.
  Result write(const FrameHead& head, BytesView body, std::size_t& written);
  /// After `full`: what the next record of that frame needs.
  std::uint32_t wanted_bytes() const { return wanted_bytes_; }
  const RingProducer& producer() const { return producer_; }

 private:
  RingProducer producer_;
  std::uint32_t wanted_bytes_ = 0;
};

/// Frames on their way in.
class FrameReader {
 public:
  explicit FrameReader(const RingView& ring) : consumer_(ring) {}
  enum class Result { nothing, part, frame, damaged };
  void refresh() { consumer_.refresh(); }
  /// Takes in one record. After `frame`: head and body, valid until pop(); a body that is whole in the ring is not
  /// copied. pop() follows `part` and `frame`.
  Result next(FrameHead& head, BytesView& body);
  void pop();
  /// Space is given back when a quarter of the ring is owed, or nothing more is there.
  bool owes_much() const { return consumer_.owed() >= consumer_.ring().size / 4; }
  RingConsumer& consumer() { return consumer_; }

 private:
  RingConsumer consumer_;
  RingConsumer::Record record_;
  Bytes assembled_;  // head and body of a frame in several records
  bool assembling_ = false;
};

}  // namespace culmen
