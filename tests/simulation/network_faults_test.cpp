// Virtual clusters whose messages are late, repeated or lost, whose workers connect again, and whose relays die.
#include <gtest/gtest.h>

#include "simulation/disturbed.hpp"

namespace culmen::testing {
namespace {

SimulationPlan faulty_plan(std::uint64_t seed, const std::string& store) {
  auto plan = plan_for(seed, store);
  Random random(seed, 81);
  plan.visitors = random.below(2) == 0;
  plan.cluster.per_relay = 1 + random.below(4);
  for (auto* p : {&plan.cluster.loses, &plan.cluster.delays, &plan.cluster.repeats, &plan.cluster.relay_dies})
    *p = 0.1 * random.uniform() * static_cast<double>(random.below(2));
  plan.cluster.per_branch = 1 + random.below(3);
  return plan;
}

void add(FaultCounts& total, const FaultCounts& more) {
  for (auto field : {&FaultCounts::relays, &FaultCounts::behind_relays, &FaultCounts::behind_branches,
                     &FaultCounts::lost_down, &FaultCounts::lost_up, &FaultCounts::returned, &FaultCounts::delayed_down,
                     &FaultCounts::delayed_up, &FaultCounts::repeated_down, &FaultCounts::repeated_up})
    total.*field += more.*field;
}

void expect_all(const FaultCounts& total, std::uint64_t least) {
  EXPECT_GT(total.relays, least);
  EXPECT_GT(total.behind_relays, total.relays);
  EXPECT_GT(total.behind_branches, least);
  EXPECT_GT(total.lost_down, least);
  EXPECT_GT(total.lost_up, least);
  EXPECT_GT(total.returned, least);
  EXPECT_GT(total.delayed_down, least);
  EXPECT_GT(total.delayed_up, least);
  EXPECT_GT(total.repeated_down, least);
  EXPECT_GT(total.repeated_up, least);
}

TEST(NetworkFaults, change_neither_the_candidates_nor_what_the_optimizer_hears) {
  Folder folder;
  std::map<std::string, std::pair<std::vector<Seen>, std::vector<Seen>>> expected;
  for (const char* name : optimizers) expected[name] = parted(undisturbed(name, folder.file()));
  FaultCounts total;
  const auto runs = std::max<std::uint64_t>(seeds() / 2, 40);
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto plan = faulty_plan(seed, folder.file());
    const auto run = simulate(plan);
    EXPECT_TRUE(run.violations.empty()) << run.violations.front();
    EXPECT_EQ(run.result.reason, StopReason::evaluations);
    EXPECT_EQ(run.result.counts.told, plan.evaluations);
    const auto [asks, tells] = parted(run.seen);
    EXPECT_EQ(asks, expected[plan.optimizer].first);
    EXPECT_EQ(tells, expected[plan.optimizer].second);
    const auto in_journal = tells_in(Journal::read(plan.store));
    EXPECT_EQ(in_journal.size(), plan.evaluations);
    for (const auto& [id, n] : in_journal) EXPECT_EQ(n, 1) << "evaluation " << id;
    add(total, run.faults);
    std::filesystem::remove(plan.store);
    if (HasFailure()) return;
  }
  expect_all(total, runs / 4);
}

TEST(NetworkFaults, without_generations_leave_every_candidate_told_once_and_the_journal_true) {
  Folder folder;
  FaultCounts total;
  const auto runs = std::max<std::uint64_t>(seeds() / 5, 40);
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto plan = faulty_plan(seed, folder.file());
    plan.optimizer = seed % 4 == 0 ? "random" : "cmaes";
    plan.mode = Mode::asynchronous;
    plan.evaluations = 200;
    const auto run = simulate(plan);
    EXPECT_TRUE(run.violations.empty()) << run.violations.front();
    EXPECT_EQ(run.result.counts.told, plan.evaluations);
    for (const auto& [id, n] : tells_in(Journal::read(plan.store))) EXPECT_EQ(n, 1) << "evaluation " << id;
    std::vector<std::string> violations;
    EXPECT_EQ(replayed(plan, violations), run.seen);
    EXPECT_TRUE(violations.empty()) << violations.front();
    add(total, run.faults);
    std::filesystem::remove(plan.store);
    if (HasFailure()) return;
  }
  expect_all(total, runs / 4);
}

// With one worker, nobody else could do the work.
TEST(NetworkFaults, a_lone_worker_that_loses_every_third_message_still_ends_the_study) {
  Folder folder;
  const auto expected = parted(undisturbed("cmaes", folder.file()));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SimulationPlan plan;
    plan.store = folder.file();
    plan.visitors = true;
    plan.cluster.seed = seed;
    plan.cluster.workers = 1;
    plan.cluster.loses = 0.33;
    const auto run = simulate(plan);
    EXPECT_EQ(run.result.counts.told, plan.evaluations);
    EXPECT_EQ(parted(run.seen), expected) << "seed " << seed;
    EXPECT_GT(run.faults.lost_down + run.faults.lost_up, 40u);
  }
}

}  // namespace
}  // namespace culmen::testing
