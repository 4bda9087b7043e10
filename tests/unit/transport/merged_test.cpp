// Two transports as one: numbers of workers, sleeps, and the end.
#include "culmen/transport/merged/merged_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace culmen {
namespace {
using testing::ElementsAre;

/// Notes its calls; has one event of each kind of its worker 1.
class Noting final : public Transport {
 public:
  Noting(std::string name, std::vector<std::string>& calls, bool dismisses = true)
      : name_(std::move(name)), calls_(calls), dismisses_(dismisses) {}
  void send(WorkerId worker, const FrameHead&, BytesView) override { note("send to " + std::to_string(worker)); }
  void turn_away(WorkerId worker, const std::string& why) override { note(why + " " + std::to_string(worker)); }
  bool receive(Sink& sink) override {
    if (std::exchange(received_, true)) return false;
    sink.joined(1);
    sink.arrived(1, {}, {});
    sink.lost(1, "gone");
    return true;
  }
  void sleep(double) override { note("sleep"); }
  void wake() noexcept override { note("wake"); }
  bool dismiss() override {
    if (dismisses_) note("dismiss");
    return dismisses_;
  }
  void close(double grace_s) override {
    note("close");
    graces.push_back(grace_s);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::vector<double> graces;

 private:
  void note(const std::string& what) { calls_.push_back(name_ + ": " + what); }
  std::string name_;
  std::vector<std::string>& calls_;
  bool dismisses_, received_ = false;
};

class Listener final : public Transport::Sink {
 public:
  void joined(WorkerId worker) override { seen.push_back("joined " + std::to_string(worker)); }
  void arrived(WorkerId worker, const FrameHead&, BytesView) override {
    seen.push_back("arrived " + std::to_string(worker));
  }
  void lost(WorkerId worker, const std::string& why) override {
    seen.push_back("lost " + std::to_string(worker) + " " + why);
  }
  std::vector<std::string> seen;
};

TEST(MergedTransport, the_workers_of_the_second_come_after_those_of_the_first) {
  std::vector<std::string> calls;
  Noting first("first", calls), second("second", calls);
  MergedTransport merged(first, 3, second);
  for (WorkerId worker : {2U, 3U, 7U}) merged.send(worker, {}, {});
  for (WorkerId worker : {2U, 3U}) merged.turn_away(worker, "away with");
  EXPECT_THAT(calls, ElementsAre("first: send to 2", "second: send to 0", "second: send to 4", "first: away with 2",
                                 "second: away with 0"));
  Listener listener;
  EXPECT_TRUE(merged.receive(listener));
  EXPECT_THAT(listener.seen,
              ElementsAre("joined 1", "arrived 1", "lost 1 gone", "joined 4", "arrived 4", "lost 4 gone"));
  EXPECT_FALSE(merged.receive(listener));
}

TEST(MergedTransport, sleeps_and_wakes_in_the_first) {
  std::vector<std::string> calls;
  Noting first("first", calls), second("second", calls);
  MergedTransport merged(first, 3, second);
  merged.sleep(1);
  merged.wake();
  EXPECT_THAT(calls, ElementsAre("first: sleep", "first: wake"));
}

TEST(MergedTransport, both_leave_at_the_same_time_and_share_one_grace) {
  std::vector<std::string> calls;
  Noting first("first", calls), second("second", calls);
  MergedTransport(first, 3, second).close(0.03);
  EXPECT_THAT(calls, ElementsAre("first: dismiss", "second: dismiss", "second: close", "first: close"));
  EXPECT_THAT(second.graces, ElementsAre(0.03));
  EXPECT_LE(first.graces.at(0), 0.011);
}

TEST(MergedTransport, one_that_cannot_dismiss_has_the_whole_grace) {
  std::vector<std::string> calls;
  Noting first("first", calls, false), second("second", calls);
  MergedTransport merged(first, 3, second);
  merged.close(0.03);
  EXPECT_THAT(first.graces, ElementsAre(0.03));
  EXPECT_FALSE(merged.dismiss());
}

TEST(MergedTransport, waits_for_ever_if_it_is_told_to) {
  std::vector<std::string> calls;
  Noting first("first", calls), second("second", calls);
  constexpr double forever_s = std::numeric_limits<double>::infinity();
  MergedTransport(first, 3, second).close(forever_s);
  EXPECT_THAT(first.graces, ElementsAre(forever_s));
}

}  // namespace
}  // namespace culmen
