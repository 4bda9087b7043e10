// What a worker learns when the master ends its connection.
#include <gmock/gmock.h>

#include <thread>

#include "network_fixture.hpp"

namespace culmen {
namespace {
using ::testing::HasSubstr;

/// What the worker says in the end.
std::string trouble_of(JoinedEndpoint& endpoint) {
  FrameHead head;
  Bytes body;
  const auto thrown = complaint_of([&] {
    while (endpoint.receive(head, body)) {
    }
  });
  return endpoint.trouble().empty() ? thrown : endpoint.trouble();
}

class Reasons : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, Reasons, testing::Values("tcp", "ws", "wss"));

TEST_P(Reasons, a_worker_that_is_turned_away_learns_why_and_ends) {
  const auto transport = make_open_transport(listen_at(GetParam()));
  const auto endpoint = join_master(joining(*transport));
  Heard heard;
  receive_until(*transport, heard, [&] { return !heard.came.empty(); });
  transport->turn_away(0, "it answered for another study");
  EXPECT_EQ(trouble_of(*endpoint),
            to_string(transport->address()) + " sent this worker away: it answered for another study");
  receive_until(*transport, heard, [&] { return !heard.left.empty(); });
  EXPECT_EQ(heard.left.front().second, "worker 0: it answered for another study");
}

TEST(PerItemReasons, a_worker_that_is_turned_away_learns_why_and_ends) {
  const auto transport = make_open_transport(listen_at("tcp-per-item"));
  const auto endpoint = join_master(joining(*transport));
  ASSERT_TRUE(endpoint->send(frame_of(1, FrameKind::result), {}));
  Heard heard;
  heard.reply = [&](WorkerId worker, const FrameHead&) { transport->turn_away(worker, "it is wrong"); };
  receive_until(*transport, heard, [&] { return !heard.left.empty(); });
  EXPECT_THAT(trouble_of(*endpoint), HasSubstr("refused this worker: it is wrong"));
}

}  // namespace
}  // namespace culmen
