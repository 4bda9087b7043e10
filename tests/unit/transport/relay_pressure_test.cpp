// A relay with others behind it keeps little, though they or the master take nothing.
#include <gtest/gtest.h>

#include <functional>

#include "culmen/base/clock.hpp"
#include "culmen/transport/relay/relay.hpp"
#include "culmen/transport/relay/relay_transport.hpp"
#include "line_in_memory.hpp"

namespace culmen {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20, most_queued = 17 * mebibyte;
constexpr int many = 64;  // frames of a mebibyte: much more than a relay keeps

struct Seen {};  // ends the relay

/// The relays behind the relay under test. When that has nothing to do, `idle` is called.
struct Behind final : Transport {
  explicit Behind(RelayTransport& relays) : relays(relays) {}
  void send(WorkerId worker, const FrameHead& head, BytesView body) override { relays.send(worker, head, body); }
  bool receive(Sink& sink) override { return results ? results(sink) : relays.receive(sink); }
  void sleep(double) override {
    if (++naps > 1000) throw Seen();
    idle();
  }
  void wake() noexcept override {}
  void close(double) override {}
  RelayTransport& relays;
  std::function<void()> idle = [] {};
  std::function<bool(Sink&)> results;
  int naps = 0;
};

class RelayPressure : public testing::Test {
 protected:
  std::vector<std::unique_ptr<LineInMemory>> up = LineInMemory::make(1), down = LineInMemory::make(1);
  RelayTransport master{*up[0], {1}, 2}, relays{*down[0], {1}};
  Behind behind{relays};

  void run_relay() {
    EXPECT_THROW(Relay(*up[1], behind, 1, [] { return 0; }, {&relays, 2}).run(), Seen);
  }
  ~RelayPressure() override {
    say_closed(*up[0], *up[1]);
    say_closed(*down[0], *down[1]);
  }
  /// For the transport at the upper end, which waits for it.
  static void say_closed(Line& upper, Line& lower) {
    std::size_t peer = 0;
    BytesView message;
    while (upper.receive(peer, message)) {
    }
    Bytes content;
    ByteWriter(content).u64(0);
    Outbox out;
    out.add(0, ParcelKind::closed, content);
    out.flush(lower, 0);
  }
};

TEST_F(RelayPressure, of_candidates_is_passed_on_to_the_master) {
  for (int i = 0; i < many; ++i) master.send(0, {}, Bytes(mebibyte));
  behind.idle = [&] { master.flush(); };
  run_relay();
  EXPECT_LT(relays.queued_bytes(), most_queued);
  EXPECT_GT(master.queued_bytes(), many * mebibyte - 2 * most_queued);
}

TEST_F(RelayPressure, of_results_is_passed_on_to_the_workers_and_candidates_still_reach_them) {
  int taken = 0, come = 0;
  behind.results = [&](Transport::Sink& sink) {
    if (++taken > many) throw Seen();
    sink.arrived(0, {}, Bytes(mebibyte));
    return true;
  };
  relays.send(0, {}, Bytes(mebibyte));  // in several messages: the line has room for two
  behind.idle = [&] {
    std::size_t peer = 0;
    BytesView message;
    while (down[1]->receive(peer, message)) ++come;
  };
  run_relay();
  EXPECT_LT(taken, 20);
  EXPECT_GE(come, 8);
}

/// A worker with candidates ahead of it gives a result each 0.1 ms.
struct Diligent final : Transport {
  explicit Diligent(Line& master) : master(master) {}
  void send(WorkerId, const FrameHead&, BytesView) override { ++ahead; }
  bool receive(Sink& sink) override {
    count_messages();
    if (ahead == 0) return false;
    const auto ready_s = clock.now_s() + 1e-4;
    while (clock.now_s() < ready_s) {
    }
    --ahead;
    ++results;
    FrameHead head;
    head.kind = FrameKind::result;
    sink.arrived(0, head, {});
    return true;
  }
  void sleep(double) override {
    count_messages();
    if (++naps > 1000) throw Seen();
  }
  void count_messages() {
    std::size_t peer = 0;
    BytesView message;
    while (master.receive(peer, message)) ++messages;
  }
  void wake() noexcept override {}
  void close(double) override {}
  Line& master;
  SteadyClock clock;
  int ahead = 0, results = 0, messages = 0, naps = 0;
};

TEST(RelayPatience, lets_short_results_share_messages) {
  const auto line = LineInMemory::make(1);
  Outbox candidates;
  for (int i = 0; i < many; ++i) candidates.add_frame(0, {}, {});
  candidates.flush(*line[0], 0);
  Diligent node(*line[0]);
  EXPECT_THROW(Relay(*line[1], node, 1, [] { return 0; }).run(), Seen);
  EXPECT_EQ(node.results, many);
  EXPECT_GT(node.messages, 0);
  EXPECT_LT(node.messages, many * 3 / 4);
}

}  // namespace
}  // namespace culmen
