// The durations of evaluations, each counted once.
#include "culmen/engine/underway.hpp"

#include <gtest/gtest.h>

#include "culmen/engine/engine.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

TEST(Underway, a_result_that_comes_again_adds_nothing) {
  Underway underway;
  underway.sent(0, 7, 0, 10);
  EXPECT_EQ(underway.returned(0, 7, 0, 3, 13), 3);
  EXPECT_EQ(underway.returned(0, 7, 0, 3, 14), 0);
  EXPECT_EQ(underway.returned(5, 7, 0, 3, 15), 0) << "the worker has connected again, under another number";
}

TEST(Underway, the_result_of_a_lost_worker_adds_only_what_was_not_counted_yet) {
  Underway underway;
  underway.sent(0, 7, 0, 10);
  underway.sent(0, 8, 0, 10);
  EXPECT_EQ(underway.lost(0, 12), 2);
  underway.sent(1, 7, 1, 12);
  EXPECT_EQ(underway.returned(2, 7, 0, 3, 13), 1);
  EXPECT_EQ(underway.returned(2, 8, 0, 4, 17), 4) << "it waited at the worker";
  EXPECT_EQ(underway.returned(2, 8, 0, 4, 18), 0);
  EXPECT_EQ(underway.returned(1, 7, 1, 3, 18), 3) << "it was evaluated a second time";
}

TEST(Underway, results_of_a_closed_evaluation_add_nothing) {
  Underway underway;
  underway.sent(0, 7, 0, 10);
  EXPECT_EQ(underway.lost(0, 12), 2);
  underway.closed(7);
  EXPECT_EQ(underway.returned(2, 7, 0, 3, 13), 0);
}

class TwoSeconds final : public Evaluator {
  Outcome evaluate(const Candidate& candidate, Attempt) override {
    auto outcome = Outcome::of_value(candidate.x[0]);
    outcome.duration_s = 2;
    return outcome;
  }
};

TEST(Engine, results_that_come_twice_do_not_count_twice) {
  const Space space{real("x", -1, 1)};
  const auto evaluated_s = [&](double answers_twice) {
    VirtualClock clock;
    ClusterPlan plan;
    plan.workers = 1;
    plan.answers_twice = answers_twice;
    VirtualCluster cluster(plan, clock, [](const culmen::SetUp&) { return std::make_unique<TwoSeconds>(); });
    const auto optimizer = make_optimizer("random", space, 1);
    EngineOptions options;
    options.broker.rules.evaluations = 100;
    options.broker.prefetch = false;
    options.set_up = encode(culmen::SetUp{space, {}});
    Engine engine(*optimizer, clock, options);
    const auto result = engine.run(cluster, nullptr);
    EXPECT_EQ(result.counts.told, 100U);
    EXPECT_EQ(cluster.faults().twice > 0, answers_twice > 0);
    EXPECT_EQ(result.present_s, result.served_s) << "there is one worker";
    EXPECT_GT(result.served_s, 0);
    return result.evaluated_s;
  };
  EXPECT_EQ(evaluated_s(0), 200);
  EXPECT_EQ(evaluated_s(0.5), 200);
}

}  // namespace
}  // namespace culmen
