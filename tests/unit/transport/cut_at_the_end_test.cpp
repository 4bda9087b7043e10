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

/// Reads until the other side ends the connection or has sent `most` bytes.
std::size_t read_up_to(int fd, std::size_t most) {
  Bytes block(std::size_t{1} << 20);
  std::size_t bytes = 0;
  while (bytes < most) {
    const auto n = recv(fd, block.data(), block.size(), 0);
    if (n <= 0) break;
    bytes += static_cast<std::size_t>(n);
  }
  return bytes;
}

void answer_with(int fd, const Bytes& frames) {
  EXPECT_GT(read_up_to(fd, 1), 0U);
  EXPECT_EQ(send(fd, frames.data(), frames.size(), MSG_NOSIGNAL), static_cast<ssize_t>(frames.size()));
}

/// The master may have got it as the last one of the study.
TEST(LeftDuringItsResult, a_worker_has_sent_it_if_it_was_written) {
  const ListeningSocket listener;
  const Bytes result(std::size_t{16} << 20);  // more than the system keeps
  std::unique_ptr<JoinedEndpoint> endpoint;
  std::thread joins([&] { endpoint = join_master(joining(listener)); });
  const int fd = listener.take();
  Bytes welcoming;
  append_frame(welcoming, head_of(welcome), {});
  answer_with(fd, welcoming);
  joins.join();
  std::thread worker([&] { EXPECT_TRUE(endpoint->send(frame_of(1, FrameKind::result), result)); });
  const auto begun = read_up_to(fd, 1);
  std::thread leaves([&] { endpoint->leave(); });
  while (!endpoint->closed()) std::this_thread::yield();
  EXPECT_GE(begun + read_up_to(fd, result.size()), result.size());
  worker.join();
  leaves.join();
  close(fd);
}

TEST(LeftDuringItsResult, a_worker_with_a_connection_for_each_item_has_sent_it_too) {
  const ListeningSocket listener;
  std::thread master([&] {
    Bytes two_items, end;
    append_frame(two_items, head_of(answer), encode(Answer{.frames = 2}));
    for (const EvaluationId item : {1, 2}) append_frame(two_items, frame_of(item), {});
    append_frame(end, head_of(bye), {});
    for (const auto& frames : {two_items, end}) {
      const int fd = listener.take();
      answer_with(fd, frames);
      close(fd);
    }
  });
  const auto endpoint = join_master(joining(listener, "tcp-per-item"));
  FrameHead head;
  Bytes body;
  EXPECT_TRUE(endpoint->receive(head, body));
  EXPECT_TRUE(endpoint->send(frame_of(1, FrameKind::result), {}));
  EXPECT_TRUE(endpoint->closed());
  master.join();
}

}  // namespace
}  // namespace culmen
