// A ring in ordinary memory, and frames that can be told apart.
#pragma once
#include <memory>
#include <vector>

#include "culmen/transport/mailbox/frames.hpp"

namespace culmen {

struct RingMemory {
  explicit RingMemory(std::uint32_t bytes) : size(bytes), data(new(std::align_val_t{64}) std::byte[bytes]) {}
  ~RingMemory() { ::operator delete[](data, std::align_val_t{64}); }
  RingMemory(const RingMemory&) = delete;
  RingView view() { return {{&tail, &head, &want_space}, data, size}; }
  void give_back(RingConsumer& consumer) {
    consumer.mark_given();
    head.store(consumer.head());
  }
  Word tail = 0, head = 0, want_space = 0;
  std::uint32_t size;
  std::byte* data;
};

inline Bytes pattern(std::size_t bytes, std::uint64_t seed) {
  Bytes out(bytes);
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>((seed * 131 + i * 7 + (i >> 8)) & 0xff);
  return out;
}

inline FrameHead numbered(std::uint64_t number) {
  FrameHead head;
  head.evaluation = number;
  head.study = ~number;
  return head;
}

}  // namespace culmen
