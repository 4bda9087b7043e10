// Results of a worker that travel together, while many candidates wait there.
#include <gmock/gmock.h>
#include <sys/ioctl.h>

#include <thread>

#include "network_fixture.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;

/// A worker that has nine candidates, and its master, written by hand.
class HeldResults : public testing::Test {
 protected:
  static constexpr EvaluationId candidates = 9, repeated = 3;
  static constexpr std::uint32_t may_hold = 4;

  HeldResults() {
    std::thread master([this] {
      fd = listener.take();
      std::byte some[4096];
      EXPECT_GT(recv(fd, some, sizeof some, 0), 0);
      Bytes all;
      append_frame(all, head_of(welcome), {});
      for (EvaluationId id = 1; id <= candidates; ++id) append_frame(all, candidate(id), {});
      EXPECT_EQ(send(fd, all.data(), all.size(), MSG_NOSIGNAL), static_cast<ssize_t>(all.size()));
    });
    endpoint = join_master(joining(listener));
    master.join();
  }
  ~HeldResults() override {
    endpoint->release();
    if (beside.joinable()) beside.join();
    close(fd);
  }
  FrameHead candidate(EvaluationId id) const {
    auto head = frame_of(id);
    head.attempt = id == repeated && has_repeated() ? 1 : 0;
    head.may_hold = may_hold;
    return head;
  }
  static bool has_repeated() {
    return std::string(testing::UnitTest::GetInstance()->current_test_info()->name()).find("repeated") !=
           std::string::npos;
  }
  void take() { ASSERT_TRUE(endpoint->receive(head, body)); }
  bool answer() { return endpoint->send(frame_of(head.evaluation, FrameKind::result), {}); }
  int bytes_at_master() const {
    int bytes = 0;
    EXPECT_EQ(ioctl(fd, FIONREAD, &bytes), 0);
    return bytes;
  }
  /// Waits for this number of frames.
  std::vector<EvaluationId> at_master(std::size_t frames) {
    while (static_cast<std::size_t>(bytes_at_master()) < frames * frame_prefix_bytes) std::this_thread::yield();
    Bytes block(frames * frame_prefix_bytes);
    EXPECT_EQ(recv(fd, block.data(), block.size(), 0), static_cast<ssize_t>(block.size()));
    BytesView rest = block, of_frame;
    std::vector<EvaluationId> found;
    for (FrameHead came; next_frame(rest, came, of_frame);) found.push_back(came.evaluation);
    return found;
  }

  ListeningSocket listener;
  int fd = -1;
  std::unique_ptr<JoinedEndpoint> endpoint;
  std::thread beside;
  FrameHead head;
  Bytes body;
};

TEST_F(HeldResults, are_handed_in_together) {
  for (EvaluationId id = 1; id < may_hold; ++id) {
    take();
    EXPECT_TRUE(answer());
  }
  EXPECT_EQ(endpoint->results(), 0U);
  take();
  EXPECT_TRUE(answer());
  EXPECT_THAT(at_master(may_hold), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(endpoint->results(), may_hold);
}

TEST_F(HeldResults, are_handed_in_when_few_candidates_are_left) {
  for (EvaluationId id = 1; id < candidates; ++id) {
    take();
    EXPECT_TRUE(answer());
  }
  EXPECT_EQ(at_master(candidates - 1).size(), candidates - 1);
}

TEST_F(HeldResults, are_handed_in_when_the_worker_says_so) {
  take();
  EXPECT_TRUE(answer());
  endpoint->hand_in();
  EXPECT_THAT(at_master(1), ElementsAre(1));
}

TEST_F(HeldResults, are_handed_in_before_a_repeated_evaluation_which_may_end_the_process) {
  for (EvaluationId id = 1; id < repeated; ++id) {
    take();
    EXPECT_TRUE(answer());
  }
  take();
  EXPECT_THAT(at_master(2), ElementsAre(1, 2));
  EXPECT_TRUE(answer());
  EXPECT_THAT(at_master(1), ElementsAre(3)) << "nor is its own result held";
}

TEST_F(HeldResults, are_handed_in_beside_a_long_evaluation) {
  take();
  EXPECT_TRUE(answer());
  take();
  beside = std::thread([this] { endpoint->wait_closed(); });
  EXPECT_THAT(at_master(1), ElementsAre(1));
}

}  // namespace
}  // namespace culmen
