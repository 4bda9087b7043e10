// Residual vectors of different lengths end a study, with and without a resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "culmen/engine/engine.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

/// The end of a study in which candidates above 0 have a residual less.
EngineResult ended(std::size_t workers, std::uint64_t seed_of_durations) {
  const Space space{real("x", -1, 1.5)};
  VirtualClock clock;
  ClusterPlan plan;
  plan.workers = workers;
  plan.seed = seed_of_durations;
  VirtualCluster cluster(plan, clock, [](const culmen::SetUp&) {
    return make_function_evaluator([](const std::vector<double>& x) {
      return Outcome::of_residuals(std::vector<double>(x[0] > 0 ? 3 : 4, x[0]));
    });
  });
  const auto optimizer = make_optimizer("random", space, 1);
  EngineOptions options;
  options.broker.rules.evaluations = 50;
  options.set_up = encode(culmen::SetUp{space, {}});
  Engine engine(*optimizer, clock, options);
  return engine.run(cluster, nullptr);
}

TEST(Engine, residuals_of_two_lengths_end_the_study_in_the_same_way_whoever_arrives_first) {
  const auto alone = ended(1, 1);
  EXPECT_EQ(alone.reason, StopReason::failure);
  EXPECT_THAT(alone.message, testing::MatchesRegex(
                                 "evaluation [0-9]+ returned . residuals, but evaluation 0 returned .; all evaluations "
                                 "must return the same number: .*"));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto several = ended(7, seed);
    EXPECT_EQ(several.reason, alone.reason);
    EXPECT_EQ(several.message, alone.message);
    EXPECT_EQ(several.counts.told, alone.counts.told);
    EXPECT_EQ(several.counts.failed, 0U);
    EXPECT_EQ(several.best_outcome.value, alone.best_outcome.value);
  }
}

}  // namespace
}  // namespace culmen
