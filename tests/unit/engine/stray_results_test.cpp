// Results that do not belong to what the worker was given.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "culmen/engine/engine.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

/// Changes the heads of one worker's results, and notes whom the engine turns away.
class Misdirected final : public Transport {
 public:
  Misdirected(Transport& real, WorkerId whose, std::function<void(FrameHead&)> change)
      : real_(real), whose_(whose), change_(std::move(change)) {}
  void send(WorkerId worker, const FrameHead& head, BytesView body) override { real_.send(worker, head, body); }
  bool receive(Sink& sink) override {
    Changing changing(sink, *this);
    return real_.receive(changing);
  }
  void sleep(double at_most_s) override { real_.sleep(at_most_s); }
  void wake() noexcept override { real_.wake(); }
  void close(double grace_s) override { real_.close(grace_s); }
  void turn_away(WorkerId worker, const std::string& why) override { turned_away[worker] = why; }

  std::map<WorkerId, std::string> turned_away;

 private:
  struct Changing final : Transport::Sink {
    Changing(Sink& to, Misdirected& by) : sink(to), owner(by) {}
    void joined(WorkerId worker) override { sink.joined(worker); }
    void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
      auto changed = head;
      if (worker == owner.whose_ && head.kind == FrameKind::result) owner.change_(changed);
      sink.arrived(worker, changed, body);
    }
    void lost(WorkerId worker, const std::string& why) override { sink.lost(worker, why); }
    Sink& sink;
    Misdirected& owner;
  };
  Transport& real_;
  const WorkerId whose_;
  std::function<void(FrameHead&)> change_;
};

class StrayResult : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Visitor, StrayResult, testing::Bool());

TEST_P(StrayResult, of_another_study_sends_its_worker_away_and_its_candidate_to_others) {
  for (const auto& change : std::vector<std::function<void(FrameHead&)>>{[](FrameHead& head) { head.study = 99; },
                                                                         [](FrameHead& head) { head.epoch += 1; }}) {
    const Space space{real("x", -1, 1)};
    VirtualClock clock;
    ClusterPlan plan;
    plan.workers = 3;
    VirtualCluster cluster(plan, clock, [](const culmen::SetUp&) {
      return make_function_evaluator([](const std::vector<double>& x) { return Outcome::of_value(x[0] * x[0]); });
    });
    Misdirected misdirected(cluster, 1, change);
    const auto optimizer = make_optimizer("random", space, 1);
    EngineOptions options;
    options.broker.rules.evaluations = 50;
    options.set_up = encode(culmen::SetUp{space, {}});
    Engine engine(*optimizer, clock, options);
    if (GetParam()) engine.expect_visitors(0);
    const auto result = engine.run(misdirected, nullptr);
    EXPECT_EQ(result.reason, StopReason::evaluations);
    EXPECT_EQ(result.counts.told, 50u);
    EXPECT_EQ(result.counts.failed, 0u);
    EXPECT_EQ(result.counts.workers, 2u);
    EXPECT_EQ(result.counts.busy, 0u);
    EXPECT_EQ(misdirected.turned_away, (std::map<WorkerId, std::string>{{1, "it answered for another study"}}));
  }
}

}  // namespace
}  // namespace culmen
