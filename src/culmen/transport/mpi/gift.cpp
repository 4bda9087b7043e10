#include "culmen/transport/mpi/gift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr int gift_tag = 3;                                     // lines have others
constexpr std::size_t first_bytes = 4096;                       // MPI keeps so few of them for a receiver that is late
constexpr std::size_t most_piece_bytes = std::size_t{1} << 30;  // MPI counts are int
constexpr double patience_s = 10;

void check_gift(const culmen_mpi_module& mpi, int error) {
  if (error == 0) return;
  char text[512] = "";
  mpi.error_text(error, text, sizeof text);
  throw TransportError(fmt::format("MPI failed to hand over a result: {}", text));
}

bool is_done(const culmen_mpi_module& mpi, culmen_mpi_request& request) {
  int done = 0, from = 0;
  std::size_t n = 0;
  check_gift(mpi, mpi.test(&request, &done, &from, &n));
  return done != 0;
}

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

/// The buffer that MPI reads until the requests are complete.
struct Gift {
  Bytes bytes;
  std::vector<culmen_mpi_request> open = {};
};

/// Calls f(offset, bytes) for each message: the first one is small, and says the length.
template <class F>
void each_piece(std::size_t bytes, F f) {
  f(0, std::min(first_bytes, bytes));
  for (auto at = first_bytes; at < bytes; at += most_piece_bytes) f(at, std::min(most_piece_bytes, bytes - at));
}

/// False: somebody does not take it.
bool wait_for_all(const culmen_mpi_module& mpi, Gift& gift) {
  const SteadyClock clock;
  for (auto last_s = clock.now_s(); !gift.open.empty() && clock.now_s() < last_s + patience_s; nap())
    if (std::erase_if(gift.open, [&](auto& request) { return is_done(mpi, request); }) > 0) last_s = clock.now_s();
  return gift.open.empty();
}

void receive(const culmen_mpi_module& mpi, std::byte* to, std::size_t bytes) {
  culmen_mpi_request request = 0;
  check_gift(mpi, mpi.post_receive(to, bytes, gift_tag, &request));
  while (!is_done(mpi, request)) nap();
}
}  // namespace

void give(const culmen_mpi_module& mpi, BytesView bytes, const std::vector<int>& ranks) {
  auto* const gift = new Gift;  // lives on after an error: a send cannot be cancelled
  ByteWriter writer(gift->bytes);
  writer.u64(bytes.size());
  writer.raw(bytes.data(), bytes.size());
  for (const int rank : ranks)
    each_piece(gift->bytes.size(), [&](std::size_t at, std::size_t n) {
      culmen_mpi_request request = 0;
      check_gift(mpi, mpi.post_send(gift->bytes.data() + at, n, rank, gift_tag, &request));
      gift->open.push_back(request);
    });
  if (wait_for_all(mpi, *gift)) delete gift;
}

Bytes take_gift(const culmen_mpi_module& mpi) {
  Bytes out(first_bytes);
  receive(mpi, out.data(), out.size());
  std::uint64_t size = 0;
  std::memcpy(&size, out.data(), sizeof size);
  out.resize(sizeof size + size);
  each_piece(out.size(), [&](std::size_t at, std::size_t n) {
    if (at > 0) receive(mpi, out.data() + at, n);
  });
  out.erase(out.begin(), out.begin() + sizeof size);
  return out;
}

}  // namespace culmen
