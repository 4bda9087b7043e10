#include "culmen/transport/handed/handed.hpp"

#include <gtest/gtest.h>

#include <sys/time.h>

#include <csignal>
#include <limits>
#include <string>
#include <thread>

namespace culmen {
namespace {

constexpr double forever_s = std::numeric_limits<double>::infinity();

class Notes final : public Transport::Sink {
 public:
  void joined(WorkerId worker) override { text += "joined " + std::to_string(worker) + "; "; }
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
    text += std::to_string(worker) + " answers " + std::to_string(head.evaluation) + " with " +
            std::to_string(body.size()) + " bytes; ";
  }
  void lost(WorkerId, const std::string&) override { text += "lost; "; }
  std::string text;
};

FrameHead head_of(EvaluationId evaluation) {
  FrameHead head;
  head.evaluation = evaluation;
  return head;
}

TEST(HandedTransport, hands_out_what_was_sent_and_delivers_what_is_answered) {
  HandedTransport transport(2);
  Notes notes;
  EXPECT_TRUE(transport.receive(notes));
  EXPECT_FALSE(transport.receive(notes));
  transport.send(1, head_of(7), Bytes(3));
  transport.send(0, head_of(8), Bytes(4));
  auto frames = transport.take(0);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].head.evaluation, 7u);
  EXPECT_EQ(frames[1].body.size(), 4u);
  EXPECT_TRUE(transport.take(0).empty());
  transport.answer(std::move(frames[1]));
  transport.answer(std::move(frames[0]));
  EXPECT_TRUE(transport.receive(notes));
  EXPECT_EQ(notes.text, "joined 0; joined 1; 0 answers 8 with 4 bytes; 1 answers 7 with 3 bytes; ");
}

TEST(HandedTransport, an_answer_and_a_wake_from_another_thread_end_the_sleep) {
  HandedTransport transport(1);
  Notes notes;
  transport.receive(notes);
  std::thread other([&] { transport.answer({0, head_of(1), {}}); });
  transport.sleep(forever_s);
  other.join();
  EXPECT_TRUE(transport.receive(notes));
  other = std::thread([&] { transport.wake(); });
  transport.sleep(forever_s);
  other.join();
}

// While the engine's thread holds the lock, a signal handler must not need it.
TEST(HandedTransport, a_signal_handler_may_wake_it_at_any_time) {
  static HandedTransport* woken = nullptr;
  HandedTransport transport(1);
  woken = &transport;
  const auto former = std::signal(SIGALRM, [](int) { woken->wake(); });
  const itimerval often{{0, 50}, {0, 50}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  Notes notes;
  for (EvaluationId i = 0; i < 200'000; ++i) {
    transport.send(0, head_of(i), {});
    for (auto& frame : transport.take(0)) transport.answer(std::move(frame));
    transport.receive(notes);
    notes.text.clear();
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, former);
  transport.wake();
  transport.sleep(forever_s);
}

TEST(HandedTransport, its_end_wakes_who_takes_and_drops_what_comes_later) {
  HandedTransport transport(1);
  Notes notes;
  transport.receive(notes);
  std::thread other([&] { transport.close(forever_s); });
  EXPECT_TRUE(transport.take(forever_s).empty());
  other.join();
  EXPECT_TRUE(transport.closed());
  transport.send(0, head_of(1), {});
  EXPECT_TRUE(transport.take(0).empty());
  transport.answer({0, head_of(1), {}});
  EXPECT_FALSE(transport.receive(notes));
}

}  // namespace
}  // namespace culmen
