#include "culmen/transport/network/incoming.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "culmen/transport/network/wire.hpp"

namespace culmen {
namespace {

FrameHead head_of_number(EvaluationId number) {
  FrameHead head;
  head.evaluation = number;
  return head;
}

/// Frames whose bodies have these sizes, and whose numbers are 0, 1, …
Bytes wire_of(const std::vector<std::size_t>& sizes) {
  Bytes out;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    append_frame(out, head_of_number(i), Bytes(sizes[i], static_cast<std::byte>(i + 1)));
  return out;
}

/// The sizes of the blocks that come out if at most `piece` bytes arrive at a time.
std::vector<std::size_t> sizes_after(const Bytes& stream, std::size_t piece) {
  Incoming incoming;
  std::vector<std::size_t> sizes;
  BytesView rest = stream;
  while (true) {
    const auto block = incoming.take(network_body_bytes);
    BytesView left = block, body;
    FrameHead head;
    while (next_frame(left, head, body)) {
      EXPECT_EQ(head.evaluation, sizes.size());
      const auto filling = static_cast<std::byte>(sizes.size() + 1);
      EXPECT_TRUE(std::ranges::all_of(body, [&](std::byte b) { return b == filling; }));
      sizes.push_back(body.size());
    }
    if (!block.empty()) continue;
    if (rest.empty()) return sizes;
    const auto room = incoming.room();
    const auto n = std::min({room.size(), rest.size(), piece});
    EXPECT_GT(n, 0u);
    std::copy_n(rest.begin(), n, room.begin());
    incoming.filled(n);
    rest = rest.subspan(n);
  }
}

TEST(Incoming, gives_all_frames_whatever_their_sizes_and_pieces) {
  const std::vector<std::size_t> sizes{0, 10, 5000, 1, 100'000, 3, 70'000, 200'000, 0, 65'536, 12};
  const auto stream = wire_of(sizes);
  for (const std::size_t piece : {1, 7, 4096, 50'000, 1 << 20}) EXPECT_EQ(sizes_after(stream, piece), sizes) << piece;
}

TEST(Incoming, reserves_little_memory_for_a_length_alone) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  Incoming incoming;
  Bytes claim;
  append_prefix(claim, head_of_number(1), network_body_bytes);
  std::ranges::copy(claim, incoming.room().begin());
  incoming.filled(claim.size());
  EXPECT_TRUE(incoming.take(network_body_bytes).empty());
  for (auto come = claim.size(); come < 10 * mebibyte;) {
    const auto room = incoming.room().size();
    EXPECT_LE(come + room, std::max(mebibyte, 2 * come));
    incoming.filled(std::min(room, mebibyte / 2));
    come += std::min(room, mebibyte / 2);
    EXPECT_TRUE(incoming.take(network_body_bytes).empty());
  }
}

}  // namespace
}  // namespace culmen
