// The reason that a worker learns when the master ends its connection.
#include <gmock/gmock.h>

#include <thread>

#include "cut_line.hpp"
#include "network_fixture.hpp"

namespace culmen {
namespace {
using ::testing::HasSubstr;

/// The worker's last error message.
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

TEST_P(Reasons, a_frame_that_is_too_large_names_the_setting) {
  auto given = listen_at(GetParam());
  given.largest_body = 1000;
  const auto transport = make_open_transport(given);
  const auto endpoint = join_master(joining(*transport));
  ASSERT_TRUE(endpoint->send(frame_of(1, FrameKind::result), Bytes(2000)));
  const std::string why =
      "it sent a frame of 2032 bytes, which is longer than 1032 bytes; raise --largest-message-mib of the run "
      "(largest_message_mib in a program)";
  EXPECT_EQ(trouble_of(*endpoint), to_string(transport->address()) + " sent this worker away: " + why);
  Heard heard;
  receive_until(*transport, heard, [&] { return !heard.left.empty(); });
  EXPECT_EQ(heard.left.front().second, "worker 0: " + why);
}

TEST_P(Reasons, a_worker_whose_frame_stalls_loses_its_place_and_comes_back) {
  auto given = listen_at(GetParam());
  given.stall_s = 0.3;
  const auto transport = make_open_transport(given);
  CutLine line(transport->address().port);
  const auto endpoint = join_master(joining(*transport, line));
  line.swallow_after(100'000);
  ASSERT_TRUE(endpoint->send(frame_of(1, FrameKind::result), Bytes(1'000'000)));
  Heard heard;
  receive_until(*transport, heard, [&] { return !heard.left.empty(); });
  EXPECT_EQ(heard.left.front().second, "worker 0: no more of a frame came for 0.3 s");
  line.swallow_after(std::numeric_limits<std::ptrdiff_t>::max());
  std::thread worker([&] { trouble_of(*endpoint); });
  receive_until(*transport, heard, [&] { return !heard.frames.empty(); });
  EXPECT_EQ(heard.frames.front(), (std::pair<WorkerId, EvaluationId>(1, 1)));
  transport->close(hangs_s);
  worker.join();
}

/// The answer of a master that gets these bytes and then nothing more.
std::string answer_to(const char* scheme, const std::string& bytes) {
  auto options = listen_at(scheme);
  options.handshake_s = 0.1;
  const auto transport = make_open_transport(options);
  BlockingSocket socket;
  socket.connect(transport->address());
  socket.write(std::as_bytes(std::span(bytes)));
  return text_in(socket.read_all());
}

TEST(SlowHandshake, is_told_why_it_ends) {
  using namespace std::string_literals;
  for (const auto* scheme : {"tcp", "tcp-per-item"})
    for (const auto& bytes : {""s, "\x50"s, "\x50\0\0\0"s})
      EXPECT_THAT(answer_to(scheme, bytes), HasSubstr("no greeting came within 0.1 s")) << scheme << bytes.size();
  EXPECT_THAT(answer_to("ws", ""), HasSubstr("no greeting came within 0.1 s"));
  EXPECT_THAT(answer_to("ws", "GET / HTTP/1.1\r\nHost: a"), HasSubstr("HTTP/1.1 408 Request Timeout"));
}

TEST(BrokenHandshake, is_told_why_it_ends) {
  using namespace std::string_literals;
  for (const auto* scheme : {"tcp", "tcp-per-item"}) {
    EXPECT_THAT(answer_to(scheme, "\x03\0\0\0abcdefg"s),
                HasSubstr("it sent a frame of 3 bytes, which is shorter than its head"));
    EXPECT_THAT(answer_to(scheme, "\0\0\x01\0abcdefg"s),
                HasSubstr("it sent a frame of 65536 bytes, which is longer than 4128"));
  }
  EXPECT_THAT(answer_to("ws", "nothing that is HTTP\r\n\r\n"), HasSubstr("HTTP/1.1 400 Bad Request"));
}

TEST(BrokenHandshake, with_a_long_header_of_HTTP_is_told_the_limit) {
  const auto request = [](std::size_t bytes) {
    return "GET /healthz HTTP/1.1\r\nX: " + std::string(bytes, 'x') + "\r\n\r\n";
  };
  EXPECT_THAT(answer_to("ws", request(7000)), HasSubstr("HTTP/1.1 200 OK"));
  const auto answer = answer_to("ws", request(9000));
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 431 Request Header Fields Too Large"));
  EXPECT_THAT(answer, HasSubstr("the header of the request is longer than 8192 bytes"));
}

TEST(SlowHandshake, may_be_tried_again) {
  const ListeningSocket listener;
  std::thread master([&] {
    play_master(listener, farewell);
    play_master(listener, welcome);
  });
  JoinOptions options;
  options.address = {"tcp", "127.0.0.1", listener.port()};
  const auto endpoint = join_master(options);
  master.join();
}

TEST(SlowHandshake, is_the_workers_sentence_if_its_patience_ends) {
  const ListeningSocket listener;
  std::thread master([&] { play_master(listener, farewell); });
  JoinOptions options;
  options.address = {"tcp", "127.0.0.1", listener.port()};
  options.patience_s = 0;
  EXPECT_THAT(complaint_of([&] { join_master(options); }), HasSubstr(" ended the connection: "));
  master.join();
}

}  // namespace
}  // namespace culmen
