#include "culmen/transport/network/wire.hpp"

#include <fmt/format.h>

#include <cstring>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::uint64_t greeting_version = 0x31304E454D4C5543;  // "CULMEN01"

std::uint32_t length_at(BytesView in) {
  std::uint32_t length = 0;
  std::memcpy(&length, in.data(), sizeof length);
  return length;
}
}  // namespace

FrameHead head_of(FrameKind kind) {
  FrameHead head;
  head.kind = kind;
  return head;
}

Bytes encode(const Greeting& greeting) {
  Bytes out;
  ByteWriter writer(out);
  writer.u64(greeting_version);
  writer.text(greeting.token);
  writer.u64(greeting.work);
  writer.text(greeting.who);
  return out;
}

Greeting decode_greeting(BytesView in) {
  ByteReader reader(in);
  if (reader.u64() != greeting_version) throw Error("it speaks another version of the protocol");
  Greeting greeting;
  greeting.token = reader.text();
  greeting.work = reader.u64();
  greeting.who = reader.text();
  if (reader.left() != 0) throw Error(fmt::format("{} bytes follow its greeting", reader.left()));
  return greeting;
}

void append_frame(Bytes& out, const FrameHead& head, BytesView body) {
  ByteWriter writer(out);
  writer.u32(static_cast<std::uint32_t>(sizeof head + body.size()));
  writer.raw(&head, sizeof head);
  writer.raw(body.data(), body.size());
}

WholeFrames whole_frames(BytesView in, std::size_t most_body_bytes) {
  WholeFrames found;
  while (in.size() - found.bytes >= sizeof(std::uint32_t)) {
    const std::size_t length = length_at(in.subspan(found.bytes));
    if (length < sizeof(FrameHead)) throw Error(fmt::format("a frame of {} bytes is shorter than its head", length));
    if (length - sizeof(FrameHead) > most_body_bytes)
      throw Error(fmt::format("a frame of {} bytes is longer than {}", length, most_body_bytes + sizeof(FrameHead)));
    found.next = sizeof(std::uint32_t) + length;
    if (in.size() - found.bytes < found.next) return found;
    found.bytes += found.next;
    found.next = 0;
  }
  return found;
}

bool next_frame(BytesView& block, FrameHead& head, BytesView& body) {
  if (block.empty()) return false;
  const auto length = length_at(block);
  std::memcpy(&head, block.data() + sizeof(std::uint32_t), sizeof head);
  body = block.subspan(frame_prefix_bytes, length - sizeof head);
  block = block.subspan(sizeof(std::uint32_t) + length);
  return true;
}

}  // namespace culmen
