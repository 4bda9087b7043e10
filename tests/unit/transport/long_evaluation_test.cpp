// Workers that hear of the master during an evaluation.
#include <gmock/gmock.h>
#include <sys/ioctl.h>

#include <thread>

#include "cut_line.hpp"
#include "network_fixture.hpp"

namespace culmen {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

class LongEvaluation : public testing::TestWithParam<const char*> {
 protected:
  ~LongEvaluation() override {
    endpoint->release();
    if (beside.joinable()) beside.join();
  }
  static ListenOptions listening() {
    auto options = listen_at(GetParam());
    options.silence_s = 2;
    return options;
  }
  std::unique_ptr<OpenTransport> transport = make_open_transport(listening());
  CutLine line{transport->address().port};
  std::unique_ptr<JoinedEndpoint> endpoint = join_master(joining(*transport, line));
  Heard heard;
  std::thread beside;  // as a worker has it
};
INSTANTIATE_TEST_SUITE_P(Schemes, LongEvaluation, testing::Values("tcp", "ws", "wss"));

TEST_P(LongEvaluation, is_answered_after_the_master_asked_for_a_sign_of_life) {
  beside = std::thread([&] { endpoint->wait_closed(); });
  receive_until(*transport, heard, [&] { return heard.came.size() == 1; });
  transport->send(0, frame_of(1), {});
  FrameHead head;
  Bytes body;
  ASSERT_TRUE(endpoint->receive(head, body));
  const auto before = line.passed_to_workers();
  receive_until(*transport, heard, [&] { return line.passed_to_workers() > before; });
  ASSERT_TRUE(endpoint->send(frame_of(1, FrameKind::result), {}));
  receive_until(*transport, heard, [&] { return !heard.frames.empty(); });
  EXPECT_THAT(heard.frames, ElementsAre(Pair(0, 1)));
  EXPECT_THAT(heard.left, IsEmpty());
}

class EndDuringEvaluation : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Schemes, EndDuringEvaluation, testing::Values("tcp", "ws", "wss"));

/// The bytes of the end are in the socket with those of the candidate, and leave it with them.
TEST_P(EndDuringEvaluation, is_noticed_though_it_came_with_the_candidate) {
  const auto transport = make_open_transport(listen_at(GetParam()));
  const auto endpoint = join_master(joining(*transport));
  Heard heard;
  receive_until(*transport, heard, [&] { return heard.came.size() == 1; });
  const Bytes body(100);
  Bytes of_both;
  append_frame(of_both, frame_of(1), body);
  const auto of_candidate = of_both.size();
  append_frame(of_both, head_of(bye), {});
  const auto waiting_bytes = [&] {
    std::size_t most = 0;
    for (const int fd : connections_at(transport->address().port)) {
      int bytes = 0;
      EXPECT_EQ(ioctl(fd, FIONREAD, &bytes), 0);
      most = std::max(most, static_cast<std::size_t>(bytes));
    }
    return most;
  };
  transport->send(0, frame_of(1), body);
  while (waiting_bytes() < of_candidate) std::this_thread::yield();
  const auto before = waiting_bytes();
  transport->dismiss();
  while (waiting_bytes() < before + of_both.size() - of_candidate) std::this_thread::yield();
  FrameHead head;
  Bytes received;
  if (endpoint->receive(head, received)) EXPECT_EQ(head.evaluation, 1U);
  endpoint->wait_closed();
  EXPECT_TRUE(endpoint->closed());
}

}  // namespace
}  // namespace culmen
