#include <gtest/gtest.h>

#include <cmath>

#include "culmen/transport/relay/parcels.hpp"
#include "culmen/transport/relay/relay_transport.hpp"
#include "culmen/transport/relay/relay_tree.hpp"
#include "line_in_memory.hpp"

namespace culmen {
namespace {

/// Every node but the master's is behind one other node, and what is behind a node has the numbers after it.
void expect_whole(const RelayTree& tree) {
  std::vector<std::size_t> parents(tree.nodes(), 0);
  for (std::size_t node = 0; node < tree.nodes(); ++node) {
    std::size_t next = node + 1;
    for (const auto child : tree.children(node)) {
      ASSERT_EQ(child, next) << "behind node " << node;
      ASSERT_EQ(tree.parent(child), node);
      ++parents[child];
      next = tree.end(child);
    }
    ASSERT_EQ(next, tree.end(node));
  }
  for (std::size_t node = 1; node < tree.nodes(); ++node) ASSERT_EQ(parents[node], 1U) << node;
}

TEST(RelayTree, has_every_node_once_whatever_their_number) {
  for (std::size_t nodes = 1; nodes <= 2000; ++nodes) {
    SCOPED_TRACE(nodes);
    expect_whole(RelayTree(nodes));
    expect_whole(RelayTree(nodes, 3));
    if (HasFatalFailure()) return;
  }
}

TEST(RelayTree, is_flat_up_to_256_nodes) {
  for (std::size_t nodes = 1; nodes <= 256; ++nodes) {
    const RelayTree tree(nodes);
    ASSERT_EQ(tree.children(0).size(), nodes - 1);
    for (std::size_t node = 1; node < nodes; ++node) {
      ASSERT_EQ(tree.parent(node), 0U);
      ASSERT_EQ(tree.end(node), node + 1);
      ASSERT_EQ(tree.relays_on_way(node), 1U);
    }
  }
}

TEST(RelayTree, has_no_node_that_talks_to_more_than_the_root_of_their_number_beyond) {
  for (std::size_t nodes = 257; nodes <= 2000; ++nodes) {
    const RelayTree tree(nodes);
    const auto root = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(nodes - 1))));
    ASSERT_EQ(tree.children(0).size(), root);
    ASSERT_EQ(tree.relays_on_way(0), 2U);
    for (std::size_t node = 1; node < nodes; ++node) {
      ASSERT_LT(tree.children(node).size(), root) << node << " of " << nodes;
      const auto parent = tree.parent(node);
      ASSERT_TRUE(parent == 0 || tree.parent(parent) == 0) << "at most two relays on the way";
    }
  }
}

TEST(RelayTree, with_one_hop_less_where_nothing_is_behind_a_relay) {
  const RelayTree tree(8, 4);  // 7 relays behind 3
  EXPECT_EQ(tree.children(0), (std::vector<std::size_t>{1, 3, 5}));
  EXPECT_EQ(tree.children(5), (std::vector<std::size_t>{6, 7}));
  EXPECT_EQ(tree.relays_on_way(6), 2U);
  const RelayTree small(4, 2);  // 3 relays behind 2
  EXPECT_EQ(small.children(0), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(small.relays_on_way(1), 1U);
  EXPECT_EQ(small.relays_on_way(2), 2U);
}

/// How often something is sent.
class CountedLine final : public Line {
 public:
  explicit CountedLine(std::unique_ptr<LineInMemory> line) : line_(std::move(line)) {}
  bool send(std::size_t peer, BytesView message) override { return ++tries, line_->send(peer, message); }
  bool receive(std::size_t& peer, BytesView& message) override { return line_->receive(peer, message); }
  bool idle() override { return line_->idle(); }
  std::size_t tries = 0;

 private:
  std::unique_ptr<LineInMemory> line_;
};

/// Messages of a master that has something for each of `nodes` with a worker.
std::size_t messages_of_a_turn(std::size_t nodes) {
  const RelayTree tree(nodes);
  std::vector<std::size_t> workers;
  for (const auto child : tree.children(0)) workers.push_back(tree.end(child) - child);
  auto ends = LineInMemory::make(workers.size());
  CountedLine line(std::move(ends[0]));
  RelayTransport transport(line, workers);
  for (WorkerId worker = 0; worker + 1 < nodes; ++worker) transport.send(worker, {}, {});
  transport.flush();
  transport.flush();
  const auto sent = line.tries;
  std::size_t peer = 0, frames = 0;
  Bytes closed;
  ByteWriter(closed).u64(0);
  for (std::size_t r = 0; r < workers.size(); ++r) {
    BytesView message;
    EXPECT_TRUE(ends[r + 1]->receive(peer, message));
    Inbox().read(message, workers[r], [&](const Parcel& parcel) { frames += parcel.kind == ParcelKind::frame; });
    Outbox out;
    out.add(0, ParcelKind::closed, closed);
    out.flush(*ends[r + 1], 0);
  }
  EXPECT_EQ(frames, nodes - 1);
  transport.close(0);
  return sent;
}

TEST(RelayTree, lets_the_masters_messages_grow_with_the_root_of_the_nodes) {
  EXPECT_EQ(messages_of_a_turn(101), 100U);
  EXPECT_EQ(messages_of_a_turn(257), 16U);
  EXPECT_EQ(messages_of_a_turn(1025), 32U);
}

}  // namespace
}  // namespace culmen
