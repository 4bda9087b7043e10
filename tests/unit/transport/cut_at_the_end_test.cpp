// Workers that are cut off when the study ends.
#include <gmock/gmock.h>

#include <thread>

#include "cut_line.hpp"
#include "network_fixture.hpp"

namespace culmen {
namespace {

constexpr double patience_s = 30;  // of the workers: much longer than they need to learn of the end

class CutAtTheEnd : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<OpenTransport> transport = make_open_transport(listen_at(GetParam()));
  CutLine line{transport->address().port};
  Heard heard;

  std::unique_ptr<JoinedEndpoint> join() {
    auto options = joining(*transport, line);
    options.patience_s = patience_s;
    auto endpoint = join_master(options);
    receive_until(*transport, heard, [&] { return heard.came.size() == 1; });
    return endpoint;
  }
  static void expect_end(JoinedEndpoint& endpoint) {
    FrameHead head;
    Bytes body;
    EXPECT_FALSE(endpoint.receive(head, body));
    EXPECT_TRUE(endpoint.closed());
    EXPECT_EQ(endpoint.trouble(), "");
  }
};
INSTANTIATE_TEST_SUITE_P(Schemes, CutAtTheEnd, testing::Values("tcp", "ws", "wss"));

TEST_P(CutAtTheEnd, a_worker_that_was_cut_off_just_before_comes_back_and_is_told) {
  const auto endpoint = join();
  line.cut();
  receive_until(*transport, heard, [&] { return heard.left.size() == 1; });
  std::thread master([&] {
    transport->close(hangs_s);
    transport.reset();
  });
  expect_end(*endpoint);
  master.join();
}

TEST_P(CutAtTheEnd, a_worker_whose_news_of_the_end_was_lost_comes_back_and_is_told) {
  const auto endpoint = join();
  line.swallow(true);
  std::thread master([&] {
    transport->close(hangs_s);
    transport.reset();
  });
  while (line.swallowed() == 0) std::this_thread::yield();
  line.swallow(false);
  line.cut();
  expect_end(*endpoint);
  master.join();
}

TEST_P(CutAtTheEnd, nobody_waits_for_workers_that_know_of_the_end) {
  const auto endpoint = join();
  std::thread worker([&] { expect_end(*endpoint); });
  const auto begin = std::chrono::steady_clock::now();
  transport->close(hangs_s);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  worker.join();
}

TEST(CutForGood, a_worker_says_that_the_run_is_gone) {
  auto listener = std::make_unique<ListeningSocket>();
  JoinOptions options;
  options.address = {"tcp", "127.0.0.1", listener->port()};
  std::thread master([&] {
    play_master(*listener, welcome);
    listener.reset();
  });
  options.patience_s = 0.2;
  const auto endpoint = join_master(options);
  master.join();
  FrameHead head;
  Bytes body;
  EXPECT_FALSE(endpoint->receive(head, body));
  EXPECT_EQ(endpoint->trouble(),
            to_string(options.address) +
                ": the connection was lost, and the run was not reached again within 0.2 s; it has ended or was "
                "interrupted, or the network is down");
}

}  // namespace
}  // namespace culmen
