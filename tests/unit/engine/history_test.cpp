#include "culmen/monitor/history.hpp"

#include <gtest/gtest.h>

#include "culmen/engine/engine.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

ToldEvaluation evaluation(EvaluationId id, std::size_t residuals = 0) {
  ToldEvaluation out;
  out.candidate = {id, {0.5}, {}};
  out.outcome.residuals.assign(residuals, 1.0);
  return out;
}

TEST(History, numbers_evaluations_as_they_come) {
  History history(1'000'000);
  for (const EvaluationId id : {4, 2, 7}) history.add(evaluation(id));
  EXPECT_EQ(history.count(), 3u);
  EXPECT_EQ(history.dropped(), 0u);
  const auto later = history.from(1, 10);
  ASSERT_EQ(later.size(), 2u);
  EXPECT_EQ(later[0].candidate.id, 2u);
  EXPECT_EQ(later[1].number, 2u);
  EXPECT_EQ(history.from(0, 2).size(), 2u);
  EXPECT_TRUE(history.from(3, 10).empty());
  EXPECT_TRUE(history.from(99, 10).empty());
}

TEST(History, drops_the_oldest_beyond_its_memory) {
  constexpr std::size_t residuals = 1000;
  History history(10 * residuals * sizeof(double));
  for (EvaluationId id = 0; id < 100; ++id) history.add(evaluation(id, residuals));
  EXPECT_EQ(history.count(), 100u);
  EXPECT_GE(history.dropped(), 90u);
  const auto kept = history.from(0, 1000);
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept.front().number, history.dropped());
  EXPECT_EQ(kept.back().candidate.id, 99u);
}

TEST(History, an_evaluation_that_is_larger_than_its_memory_is_not_kept) {
  History history(100);
  history.add(evaluation(0, 1000));
  EXPECT_EQ(history.count(), 1u);
  EXPECT_EQ(history.dropped(), 1u);
  EXPECT_TRUE(history.from(0, 10).empty());
}

TEST(History, an_engine_adds_what_it_tells) {
  const Space space{real("x", -1, 1)};
  VirtualClock clock;
  VirtualCluster cluster({}, clock, [](const culmen::SetUp&) {
    return make_function_evaluator([](const std::vector<double>& x) {
      return x[0] > 0 ? Outcome::failure(Status::failed, "positive") : Outcome::of_value(-x[0]);
    });
  });
  const auto optimizer = make_optimizer("random", space, 1);
  EngineOptions options;
  options.broker.rules.evaluations = 50;
  options.set_up = encode(culmen::SetUp{space, {}});
  options.history = std::make_shared<History>(1'000'000);
  Engine engine(*optimizer, clock, options);
  const auto result = engine.run(cluster, nullptr);
  const auto told = options.history->from(0, 1000);
  ASSERT_EQ(told.size(), 50u);
  std::uint64_t failed = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_EQ(told[i].candidate.id, i);
    EXPECT_EQ(told[i].outcome.ok(), told[i].candidate.x.at(0) <= 0);
    EXPECT_GT(told[i].at_s, 0);
    failed += told[i].outcome.ok() ? 0 : 1;
  }
  EXPECT_EQ(failed, result.counts.failed);
  EXPECT_EQ(told.at(result.best.id).candidate.x, result.best.x);
}

}  // namespace
}  // namespace culmen
