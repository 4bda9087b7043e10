// Virtual clusters in which workers join, leave, die, answer twice and late, and masters die: over the real engine,
// store, optimizers and worker code.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <tuple>

#include "simulation/disturbed.hpp"

namespace culmen::testing {
namespace {
TEST(VirtualClusters, tell_every_candidate_once_after_the_journal_and_see_the_undisturbed_sequence) {
  Folder folder;
  std::map<std::string, std::pair<std::vector<Seen>, std::vector<Seen>>> expected;
  for (const char* name : optimizers) expected[name] = parted(undisturbed(name, folder.file()));
  FaultCounts total;
  int masters = 0;
  for (std::uint64_t seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto plan = plan_for(seed, folder.file());
    const auto run = simulate(plan);
    EXPECT_TRUE(run.violations.empty()) << run.violations.front();
    EXPECT_EQ(run.result.reason, StopReason::evaluations);
    EXPECT_EQ(run.result.counts.told, plan.evaluations);
    const auto [asks, tells] = parted(run.seen);
    EXPECT_EQ(asks, expected[plan.optimizer].first);
    EXPECT_EQ(tells, expected[plan.optimizer].second);
    const auto journal = Journal::read(plan.store);
    const auto in_journal = tells_in(journal);
    EXPECT_EQ(in_journal.size(), plan.evaluations);
    for (const auto& [id, n] : in_journal) EXPECT_EQ(n, 1) << "evaluation " << id;
    total.died += run.faults.died;
    total.late += run.faults.late;
    total.twice += run.faults.twice;
    total.left += run.faults.left;
    total.stale += run.faults.stale;
    masters += run.masters;
    std::filesystem::remove(plan.store);
    if (HasFailure()) return;
  }
  printf(
      "%llu seeds: %d masters, %llu workers died, %llu left, %llu answers late, %llu twice, %llu for a former master\n",
      static_cast<unsigned long long>(seeds()), masters, static_cast<unsigned long long>(total.died),
      static_cast<unsigned long long>(total.left), static_cast<unsigned long long>(total.late),
      static_cast<unsigned long long>(total.twice), static_cast<unsigned long long>(total.stale));
  for (auto n : {total.died, total.left, total.late, total.twice, total.stale}) EXPECT_GT(n, seeds() / 10);
  EXPECT_GT(masters, static_cast<int>(seeds() + seeds() / 10));
}

// The undisturbed sequence, and a target that it reaches after about two thirds of its budget.
struct TargetStudy {
  std::vector<Seen> asks, tells;
  double target = 0;
};

TargetStudy target_study(const std::string& optimizer, const std::string& store) {
  TargetStudy study;
  std::tie(study.asks, study.tells) = parted(undisturbed(optimizer, store));
  const auto reaches = [&](const Seen& s) { return s.figures[0] >= 0 && s.figures[0] <= study.target; };
  study.target = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 2 * study.tells.size() / 3; ++i)
    if (reaches(study.tells[i])) study.target = study.tells[i].figures[0];
  study.tells.erase(std::find_if(study.tells.begin(), study.tells.end(), reaches) + 1, study.tells.end());
  return study;
}

// Of each candidate that was asked: how many tells, how many cancels.
std::map<EvaluationId, std::pair<int, int>> ends_in(const Journal& journal) {
  std::map<EvaluationId, std::pair<int, int>> ends;
  journal.replay([&](const CallRecord& call) {
    for (const auto& candidate : call.candidates) ends[candidate.id];
    for (auto id : call.ids) ++(call.kind == CallKind::tell ? ends[id].first : ends[id].second);
  });
  return ends;
}

TEST(VirtualClusters, a_target_is_met_at_the_same_evaluation_whatever_dies) {
  Folder folder;
  std::map<std::string, TargetStudy> studies;
  for (const char* name : optimizers) studies[name] = target_study(name, folder.file());
  int masters = 0;
  for (std::uint64_t seed = 1; seed <= seeds() / 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto plan = plan_for(seed, folder.file());
    const auto& study = studies[plan.optimizer];
    plan.target = study.target;
    plan.dies_at_end = 0.3;
    const auto run = simulate(plan);
    EXPECT_TRUE(run.violations.empty()) << run.violations.front();
    EXPECT_EQ(run.result.reason, StopReason::target);
    EXPECT_EQ(run.result.counts.told, study.tells.size());
    const auto [asks, tells] = parted(run.seen);
    EXPECT_EQ(tells, study.tells);
    ASSERT_LE(asks.size(), study.asks.size());
    EXPECT_TRUE(std::equal(asks.begin(), asks.end(), study.asks.begin()));
    for (const auto& [id, end] : ends_in(Journal::read(plan.store)))
      EXPECT_EQ(end.first + end.second, 1) << "evaluation " << id << ": " << end.first << " tells";
    masters += run.masters;
    std::filesystem::remove(plan.store);
    if (HasFailure()) return;
  }
  EXPECT_GT(masters, static_cast<int>(seeds() / 4 + seeds() / 40));
}

TEST(VirtualClusters, an_evaluation_that_kills_its_workers_is_told_as_failed_and_the_study_ends) {
  Folder folder;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto plan = plan_for(seed, folder.file());
    plan.cluster.dies = 0.5;
    plan.lost_workers = 2;
    const auto run = simulate(plan);
    EXPECT_EQ(run.result.counts.told, plan.evaluations) << "seed " << seed;
    EXPECT_GT(run.result.counts.failed, 5u);
    EXPECT_TRUE(run.violations.empty());
  }
}

// That a replay proposes what the journal holds is what Engine::replay insists on.
TEST(VirtualClusters, an_asynchronous_optimizer_with_jobs_goes_on_from_any_moment) {
  Folder folder;
  int masters = 0;
  for (std::uint64_t seed = 1; seed <= seeds() / 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto plan = plan_for(seed, folder.file());
    plan.optimizer = "modelled";
    plan.mode = Mode::asynchronous;
    plan.master_dies = 0.02;
    const auto run = simulate(plan);
    EXPECT_EQ(run.result.reason, StopReason::evaluations);
    EXPECT_EQ(run.result.counts.told, plan.evaluations);
    for (const auto& [id, n] : tells_in(Journal::read(plan.store))) EXPECT_EQ(n, 1) << "evaluation " << id;
    masters += run.masters;
    std::filesystem::remove(plan.store);
    if (HasFailure()) return;
  }
  EXPECT_GT(masters, static_cast<int>(seeds() / 2));
}

TEST(VirtualClusters, without_generations_all_is_told_once_and_the_journal_gives_the_same_sequence_again) {
  Folder folder;
  int masters = 0, runs = 0;
  for (std::uint64_t seed = 1; seed <= std::max<std::uint64_t>(seeds() / 5, 40); ++seed, ++runs) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto plan = plan_for(seed, folder.file());
    plan.optimizer = seed % 4 == 0 ? "random" : "cmaes";
    plan.mode = Mode::asynchronous;
    plan.evaluations = 200;
    const auto run = simulate(plan);
    EXPECT_TRUE(run.violations.empty()) << run.violations.front();
    EXPECT_EQ(run.result.reason, StopReason::evaluations);
    EXPECT_EQ(run.result.counts.told, plan.evaluations);
    for (const auto& [id, n] : tells_in(Journal::read(plan.store))) EXPECT_EQ(n, 1) << "evaluation " << id;
    std::vector<std::string> violations;
    EXPECT_EQ(replayed(plan, violations), run.seen);
    EXPECT_TRUE(violations.empty()) << violations.front();
    masters += run.masters;
    std::filesystem::remove(plan.store);
    if (HasFailure()) return;
  }
  EXPECT_GT(masters, runs + runs / 10);
}

TEST(VirtualClusters, the_same_seed_gives_the_same_simulation) {
  Folder folder;
  const auto a = simulate(plan_for(7, folder.file()));
  const auto b = simulate(plan_for(7, folder.file()));
  EXPECT_EQ(a.seen, b.seen);
  EXPECT_EQ(a.faults.died, b.faults.died);
}

}  // namespace
}  // namespace culmen::testing
