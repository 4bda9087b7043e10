#include "culmen/transport/network/wire.hpp"

#include <fmt/format.h>

#include <cstring>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::uint64_t greeting_mark = 0x34304E454D4C5543;  // "CULMEN04"
constexpr std::size_t most_parts = 16;

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

namespace {
void write(ByteWriter& writer, const Greeting& greeting) {
  writer.u64(greeting_mark);
  writer.text(greeting.version);
  writer.text(greeting.token);
  writer.u64(greeting.work.digest);
  writer.u8(static_cast<std::uint8_t>(greeting.work.parts.size()));
  for (const auto& [name, digest] : greeting.work.parts) {
    writer.text(name);
    writer.u64(digest);
  }
  writer.text(greeting.who);
}

bool is_of_this_version(const Greeting& greeting) { return greeting.version == CULMEN_VERSION; }

Greeting read_greeting(ByteReader& reader) {
  if (reader.u64() != greeting_mark)
    throw Error("its greeting is not one of culmen " CULMEN_VERSION "; install this version there, too");
  Greeting greeting;
  greeting.version = reader.text();
  if (!is_of_this_version(greeting)) return greeting;
  greeting.token = reader.text();
  greeting.work.digest = reader.u64();
  const std::size_t parts = reader.u8();
  if (parts > most_parts) throw Error(fmt::format("its greeting has {} parts of the work", parts));
  for (std::size_t i = 0; i < parts; ++i) {
    auto name = reader.text();
    greeting.work.parts.emplace_back(std::move(name), reader.u64());
  }
  greeting.who = reader.text();
  return greeting;
}

void expect_end(const ByteReader& reader, const char* of) {
  if (reader.left() != 0) throw Error(fmt::format("{} bytes follow its {}", reader.left(), of));
}
}  // namespace

Bytes encode(const Greeting& greeting) {
  Bytes out;
  ByteWriter writer(out);
  write(writer, greeting);
  return out;
}

Greeting decode_greeting(BytesView in) {
  ByteReader reader(in);
  auto greeting = read_greeting(reader);
  if (is_of_this_version(greeting)) expect_end(reader, "greeting");
  return greeting;
}

Bytes encode(const Visit& said) {
  Bytes out;
  ByteWriter writer(out);
  write(writer, said.greeting);
  for (const auto number : {said.worker, said.received, said.first, said.frames}) writer.u64(number);
  writer.u8(said.waits);
  writer.u8(said.leaves);
  return out;
}

Visit decode_visit(BytesView in) {
  ByteReader reader(in);
  Visit said;
  said.greeting = read_greeting(reader);
  if (!is_of_this_version(said.greeting)) return said;
  for (auto* number : {&said.worker, &said.received, &said.first, &said.frames}) *number = reader.u64();
  said.waits = reader.u8() != 0;
  said.leaves = reader.u8() != 0;
  expect_end(reader, "visit");
  return said;
}

Bytes encode(const Answer& said) {
  Bytes out;
  ByteWriter writer(out);
  for (const auto number : {said.worker, said.received, said.first, said.frames}) writer.u64(number);
  return out;
}

Answer decode_answer(BytesView in) {
  ByteReader reader(in);
  Answer said;
  for (auto* number : {&said.worker, &said.received, &said.first, &said.frames}) *number = reader.u64();
  expect_end(reader, "answer");
  return said;
}

void append_prefix(Bytes& out, const FrameHead& head, std::size_t body_bytes) {
  ByteWriter writer(out);
  writer.u32(static_cast<std::uint32_t>(sizeof head + body_bytes));
  writer.raw(&head, sizeof head);
}

void append_frame(Bytes& out, const FrameHead& head, BytesView body) {
  append_prefix(out, head, body.size());
  ByteWriter(out).raw(body.data(), body.size());
}

WholeFrames whole_frames(BytesView in, std::size_t most_body_bytes) {
  WholeFrames found;
  while (in.size() - found.bytes >= sizeof(std::uint32_t)) {
    const std::size_t length = length_at(in.subspan(found.bytes));
    const bool is_too_long = length > sizeof(FrameHead) + most_body_bytes;
    if (is_too_long && found.bytes > 0) return found;
    if (length < sizeof(FrameHead))
      throw Error(fmt::format("a frame of {} bytes, which is shorter than its head", length));
    if (is_too_long)
      throw FrameTooLong(
          fmt::format("a frame of {} bytes, which is longer than {}", length, most_body_bytes + sizeof(FrameHead)));
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
