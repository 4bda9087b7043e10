// Results that do not belong to what the worker was given.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

/// Changes the heads and bodies of one worker's results, and notes whom the engine turns away.
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
  std::function<void(Outcome&)> change_outcome;

 private:
  struct Changing final : Transport::Sink {
    Changing(Sink& to, Misdirected& by) : sink(to), owner(by) {}
    void joined(WorkerId worker) override { sink.joined(worker); }
    void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
      auto changed = head;
      if (worker != owner.whose_ || head.kind != FrameKind::result) return sink.arrived(worker, head, body);
      owner.change_(changed);
      if (!owner.change_outcome) return sink.arrived(worker, changed, body);
      Outcome outcome;
      decode(body.subspan(sizeof(std::uint64_t)), outcome);
      owner.change_outcome(outcome);
      Bytes other(body.begin(), body.begin() + sizeof(std::uint64_t)), encoded;
      encode(outcome, encoded);
      other.insert(other.end(), encoded.begin(), encoded.end());
      sink.arrived(worker, changed, other);
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

TEST(StrangeResult, with_numbers_that_no_worker_sends_is_not_used) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const auto& change : std::vector<std::function<void(Outcome&)>>{
           [](Outcome& o) { o.duration_s = nan; }, [](Outcome& o) { o.duration_s = infinity; },
           [](Outcome& o) { o.value = nan; }, [](Outcome& o) { o.values.clear(); },
           [](Outcome& o) { o.values.pop_back(); }, [](Outcome& o) { o.values.push_back(0); },
           [](Outcome& o) { o.values[1] = -infinity; }, [](Outcome& o) { o.violation = -1; },
           [](Outcome& o) { o.violation = nan; },
           [](Outcome& o) {
             o.residuals = {1, nan};
           }}) {
    const Space space{real("x", -1, 1)};
    VirtualClock clock;
    ClusterPlan plan;
    plan.workers = 3;
    VirtualCluster cluster(plan, clock, [](const culmen::SetUp&) {
      return make_function_evaluator([](const std::vector<double>& x) {
        auto outcome = Outcome::of_value(x[0]);
        outcome.values = {x[0], -x[0]};
        return outcome;
      });
    });
    Misdirected misdirected(cluster, 1, [](FrameHead&) {});
    misdirected.change_outcome = change;
    const auto optimizer = make_optimizer("random", space, 1);
    EngineOptions options;
    options.values = 2;
    options.broker.rules.evaluations = 50;
    options.set_up = encode(culmen::SetUp{space, {}});
    Engine engine(*optimizer, clock, options);
    engine.expect_visitors(0);
    const auto result = engine.run(misdirected, nullptr);
    EXPECT_EQ(result.counts.told, 50u);
    EXPECT_EQ(result.counts.failed, 0u);
    EXPECT_TRUE(std::isfinite(result.best_outcome.value));
    ASSERT_EQ(misdirected.turned_away.size(), 1u);
    EXPECT_NE(misdirected.turned_away[1].find("sent an answer that cannot be read: "), std::string::npos);
  }
}

}  // namespace
}  // namespace culmen
