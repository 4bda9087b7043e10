// Peers that are gone without a word.
#include <netinet/tcp.h>

#include <thread>

#include "cut_line.hpp"
#include "network_fixture.hpp"

namespace culmen {
namespace {
class SilentPeer : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, SilentPeer, testing::Values("tcp", "ws", "wss"));

TEST_P(SilentPeer, is_lost_though_a_proxy_keeps_its_connection) {
  auto given = listen_at(GetParam());
  given.silence_s = 0.2;
  const auto transport = make_open_transport(given);
  CutLine line(transport->address().port);
  const auto endpoint = join_master(joining(*transport, line));
  std::thread worker([&] {
    FrameHead head;
    Bytes body;
    endpoint->receive(head, body);
  });
  line.swallow(true);
  Heard heard;
  receive_until(*transport, heard, [&] { return !heard.left.empty(); });
  EXPECT_EQ(heard.left.front().first, 0U);
  endpoint->leave();
  worker.join();
}

TEST_P(SilentPeer, that_only_waits_keeps_its_place) {
  auto given = listen_at(GetParam());
  given.silence_s = 1.5;
  const auto transport = make_open_transport(given);
  CutLine line(transport->address().port);
  const auto endpoint = join_master(joining(*transport, line));
  std::thread worker([&] {
    FrameHead head;
    Bytes body;
    endpoint->receive(head, body);
  });
  Heard heard;
  for (int asked = 0; asked < 3; ++asked) {
    const auto before = line.passed_to_workers();
    receive_until(*transport, heard, [&] { return line.passed_to_workers() > before || !heard.left.empty(); });
  }
  EXPECT_EQ(heard.came.size(), 1U);
  EXPECT_TRUE(heard.left.empty());
  EXPECT_TRUE(heard.frames.empty());  // an answer is no frame of the study
  endpoint->leave();
  worker.join();
}

int option_of(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(getsockopt(fd, level, name, &value, &size), 0);
  return value;
}

class DeadMachine : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, DeadMachine, testing::Values("tcp", "ws", "wss"));

TEST_P(DeadMachine, is_noticed_by_the_system_within_half_a_minute_on_both_sides) {
  const auto transport = make_open_transport(listen_at(GetParam()));
  const auto endpoint = join_master(joining(*transport));
  const auto sockets = connections_at(transport->address().port);
  ASSERT_EQ(sockets.size(), 2U);
  for (const int fd : sockets) {
    EXPECT_EQ(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_LE(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
                  option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL) * option_of(fd, IPPROTO_TCP, TCP_KEEPCNT),
              30);
    const auto unanswered_ms = option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT);
    EXPECT_GT(unanswered_ms, 0);
    EXPECT_LE(unanswered_ms, 30'000);
  }
}

}  // namespace
}  // namespace culmen
