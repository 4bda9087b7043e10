#include "culmen/study/run/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <filesystem>

#include "culmen/base/error.hpp"
#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/search.hpp"
#include "culmen/study/run/culmen.hpp"

namespace culmen {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class StudyRun : public ::testing::Test {
 protected:
  StudyRun() {
    std::string pattern = (fs::temp_directory_path() / "culmen-study-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    options_.store = folder_ + "/study.db";
    options_.workers = 2;
    options_.place = "threads";
    config_.space = Space{real("x", -1, 1)};
    config_.evaluator.isolation = Isolation::none;
    config_.optimizer = "random";
    config_.fingerprint = "same";
    config_.stop.evaluations = 20;
  }
  ~StudyRun() override { fs::remove_all(folder_); }

  StudyResult run() {
    culmen::Run run(config_, options_, [](const std::vector<double>& x) { return Outcome::of_value(x[0] * x[0]); });
    run.prepare();
    run.execute();
    return run.conclude();
  }

  std::string folder_;
  StudyConfig config_;
  RunOptions options_;
};

TEST_F(StudyRun, goes_on_with_a_store_up_to_a_larger_budget) {
  EXPECT_EQ(run().counts.told, 20u);
  options_.resume = true;
  config_.stop.evaluations = 50;
  const auto result = run();
  EXPECT_EQ(result.reason, StopReason::evaluations);
  EXPECT_EQ(result.counts.told, 50u);
}

/// Counts the connections to databases that are opened while it lives.
class Openings {
 public:
  Openings() {
    count_ = 0;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(add));
  }
  ~Openings() { sqlite3_reset_auto_extension(); }
  Openings(const Openings&) = delete;

  int count() const { return count_; }

 private:
  static int add(sqlite3*, const char**, const void*) {
    ++count_;
    return SQLITE_OK;
  }
  static inline std::atomic<int> count_;
};

TEST_F(StudyRun, a_resume_opens_its_store_once_to_read_and_once_to_write) {
  run();
  options_.resume = true;
  config_.stop.evaluations = 30;
  culmen::Run resumed(config_, options_, [](const std::vector<double>& x) { return Outcome::of_value(x[0]); });
  const Openings openings;
  resumed.prepare();
  EXPECT_EQ(openings.count(), 2);
  resumed.execute();
  resumed.conclude();
}

TEST_F(StudyRun, a_start_without_workers_leaves_no_store_behind) {
  options_.place = "processes";  // which a function in this program cannot reach
  EXPECT_THROW(run(), InputError);
  EXPECT_FALSE(fs::exists(options_.store));
}

TEST_F(StudyRun, a_budget_below_what_was_done_is_refused_and_the_store_stays_as_it_was) {
  run();
  options_.resume = true;
  config_.stop.evaluations = 10;
  try {
    run();
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("holds 20 evaluations already; a limit of 10"));
  }
  const auto summary = Journal::read(options_.store).summary();
  EXPECT_EQ(summary.epoch, 1u);
  EXPECT_FALSE(summary.owned);
}

TEST_F(StudyRun, the_configuration_of_the_last_start_is_the_one_that_is_kept) {
  config_.configuration = "first";
  run();
  options_.resume = true;
  config_.stop.evaluations = 30;
  config_.configuration = "second";
  run();
  EXPECT_EQ(Journal::read(options_.store).study().configuration, "second");
  config_.stop.evaluations = 40;
  config_.configuration.clear();
  run();
  EXPECT_EQ(Journal::read(options_.store).study().configuration, "second");
}

TEST_F(StudyRun, a_replay_that_differs_is_the_result_and_the_store_is_let_go_as_it_was) {
  run();
  const auto before = Journal::read(options_.store).summary();
  options_.resume = true;
  config_.stop.evaluations = 50;
  config_.seed = 2;  // which the fingerprint hides here
  const auto result = run();
  EXPECT_EQ(result.reason, StopReason::error);
  EXPECT_THAT(result.message, HasSubstr("a candidate 0 that differs from the journal's"));
  const auto after = Journal::read(options_.store).summary();
  EXPECT_FALSE(after.owned);
  EXPECT_EQ(after.told, before.told);
  config_.seed = 1;
  EXPECT_EQ(run().counts.told, 50u);
}

TEST_F(StudyRun, a_stop_before_its_start_ends_it_before_the_first_evaluation) {
  culmen::Run run(config_, options_, [](const std::vector<double>&) { return Outcome::of_value(0); });
  run.stop();
  run.prepare();
  run.execute();
  const auto result = run.conclude();
  EXPECT_EQ(result.reason, StopReason::interrupted);
  EXPECT_EQ(result.counts.told, 0u);
  EXPECT_FALSE(is_final(result.reason));
}

TEST_F(StudyRun, a_fingerprint_covers_what_decides_the_values_and_no_stop_rule) {
  const auto original = fingerprint_of(config_);
  auto other = config_;
  other.stop.evaluations = 7;
  EXPECT_EQ(fingerprint_of(other), original);
  for (auto change : {+[](StudyConfig& c) { c.seed = 2; }, +[](StudyConfig& c) { c.optimizer = "sobol"; },
                      +[](StudyConfig& c) { c.evaluator_identity = "another"; },
                      +[](StudyConfig& c) { c.optimizer_options["population"] = 8; },
                      +[](StudyConfig& c) { c.space = Space{real("x", -1, 2)}; },
                      +[](StudyConfig& c) { c.evaluator.result = ResultKind::residuals; }}) {
    auto changed = config_;
    change(changed);
    EXPECT_NE(fingerprint_of(changed), original);
  }
}

TEST_F(StudyRun, fingerprints_in_stores_stay_valid) {
  config_.space = Space{real("x", -1, 1), real("tau", 1e-6, 1, Scale::log), integer("n", 1, 9)};
  config_.evaluator_identity = R"(["python", "model.py:f"])";
  config_.optimizer_options["sigma"] = 0.25;
  EXPECT_EQ(fingerprint_of(config_), "5d56426a48f7a9b3");
}

TEST_F(StudyRun, a_result_travels_to_the_ranks_unchanged) {
  auto result = run();
  result.first_failure = "evaluation 3 failed: out of range";
  EXPECT_FALSE(decode_result(encode(result)).recommended);
  result.recommended = Recommendation{{0.5, 2}, 1.25, 0.125, 9};
  const auto copy = decode_result(encode(result));
  EXPECT_EQ(copy.counts.told, result.counts.told);
  EXPECT_EQ(copy.best.x, result.best.x);
  EXPECT_EQ(copy.best_outcome.value, result.best_outcome.value);
  EXPECT_EQ(copy.message, result.message);
  EXPECT_EQ(copy.first_failure, result.first_failure);
  EXPECT_EQ(copy.store, result.store);
  EXPECT_EQ(copy.recommended, result.recommended);
}

}  // namespace
}  // namespace culmen
