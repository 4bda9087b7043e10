#include "conformance/transport/play_worker.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

Bytes body_of(std::uint64_t number, std::size_t bytes) {
  Bytes body(bytes);
  std::uint64_t x = (number + 1) * 0x9e3779b97f4a7c15;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i % 8 == 0) x = x * 6364136223846793005 + 1442695040888963407;
    body[i] = static_cast<std::byte>(x >> (i % 8 * 8));
  }
  return body;
}

std::size_t size_of(std::uint64_t number, std::size_t most) {
  const auto x = (number + 1) * 0x9e3779b97f4a7c15 >> 20;
  return number % 16 == 7 ? x % (most + 1) : x % (most / 64 + 1);
}

std::uint64_t sum_of(BytesView bytes) {
  std::uint64_t sum = 0;
  for (const auto byte : bytes) sum = sum * 31 + std::to_integer<std::uint64_t>(byte);
  return sum;
}

Bytes packed(std::initializer_list<std::uint64_t> values) {
  Bytes bytes;
  ByteWriter writer(bytes);
  for (const auto value : values) writer.u64(value);
  return bytes;
}

namespace {
void flood(Endpoint& endpoint, FrameHead head, BytesView body) {
  ByteReader reader(body);
  const auto count = reader.u64(), most = reader.u64();
  for (head.evaluation = 0; head.evaluation < count; ++head.evaluation)
    if (!endpoint.send(head, body_of(head.evaluation, size_of(head.evaluation, most)))) return;
}

/// The kill falls wherever the flood happens to be.
[[noreturn]] void flood_and_die(Endpoint& endpoint, const FrameHead& head, BytesView body) {
  ByteReader reader(body);
  const auto most = reader.u64(), after_us = reader.u64();
  std::thread killer([after_us] {
    std::this_thread::sleep_for(std::chrono::microseconds(after_us));
    raise(SIGKILL);
  });
  flood(endpoint, head, packed({std::uint64_t{1} << 60, most}));
  killer.join();
  std::abort();
}
}  // namespace

void play_worker(Endpoint& endpoint) {
  FrameHead head;
  Bytes body;
  while (endpoint.receive(head, body)) {
    switch (static_cast<Play>(head.study)) {
      case Play::echo:
        endpoint.send(head, body);
        break;
      case Play::answer:
        endpoint.send(head, body_of(head.evaluation, ByteReader(body).u64()));
        break;
      case Play::digest:
        endpoint.send(head, packed({body.size(), sum_of(body)}));
        break;
      case Play::flood:
        flood(endpoint, head, body);
        break;
      case Play::die:
        flood(endpoint, head, body);
        raise(SIGKILL);
        break;
      case Play::die_amid:
        flood_and_die(endpoint, head, body);
        break;
      case Play::leave:
        return;
    }
  }
}

}  // namespace culmen::conformance
