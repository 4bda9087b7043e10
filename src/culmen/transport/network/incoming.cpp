#include "culmen/transport/network/incoming.hpp"

#include <algorithm>

#include "culmen/transport/network/wire.hpp"

namespace culmen {
namespace {
constexpr std::size_t most_room = std::size_t{64} << 10;
constexpr std::size_t trusted_bytes = std::size_t{1} << 20;  // of a frame that only its length announces
}  // namespace

Bytes Incoming::take(std::size_t most_body_bytes) {
  const auto whole = whole_frames(BytesView(buffer_).first(filled_), most_body_bytes);
  next_ = whole.bytes == 0 ? whole.next : 0;
  return whole.bytes == 0 ? Bytes() : take_block(whole.bytes);
}

/// A small block is copied, so that it keeps no memory that it does not need.
Bytes Incoming::take_block(std::size_t bytes) {
  const auto begin = buffer_.begin(), end = begin + static_cast<std::ptrdiff_t>(bytes);
  const auto unread = begin + static_cast<std::ptrdiff_t>(filled_);
  filled_ -= bytes;
  if (bytes < most_room) {
    Bytes block(begin, end);
    std::copy(end, unread, begin);
    return block;
  }
  Bytes rest(end, unread);
  std::swap(rest, buffer_);
  rest.resize(bytes);
  return rest;
}

/// To the size of the frame, because a large one comes in many pieces. A length alone reserves little memory: beyond
/// that, the room doubles with what has come.
std::span<std::byte> Incoming::room() {
  const auto wanted =
      std::max({std::min(next_, std::max(trusted_bytes, 2 * filled_)), filled_ + sizeof(std::uint32_t), room_});
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  return std::span(buffer_).subspan(filled_);
}

void Incoming::filled(std::size_t bytes) {
  filled_ += bytes;
  if (filled_ == buffer_.size()) room_ = std::min(most_room, 2 * room_);
}

}  // namespace culmen
