// A store keeps the edition of the optimizer with which its study began.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/search.hpp"
#include "culmen/study/run/run.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

class StudyEdition : public ::testing::Test {
 protected:
  StudyEdition() {
    std::string pattern = (fs::temp_directory_path() / "culmen-edition-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~StudyEdition() override { fs::remove_all(folder_); }

  static StudyConfig config(Edition edition, std::uint64_t evaluations, const std::string& optimizer = {}) {
    StudyConfig c;
    c.optimizer = optimizer;
    c.space = Space{real("x", -5, 5), real("y", -5, 5)};
    c.starts = {{1, 2}};
    c.evaluator.isolation = Isolation::none;
    c.evaluator.result = ResultKind::residuals;
    c.evaluator_identity = "function";
    c.stop.evaluations = evaluations;
    c.edition = edition;
    choose_optimizer(c);
    c.fingerprint = fingerprint_of(c);
    return c;
  }

  StudyResult run(const StudyConfig& config, bool resume) const {
    RunOptions options;
    options.store = folder_ + "/study.db";
    options.workers = 2;
    options.place = "threads";
    options.resume = resume;
    culmen::Run run(config, options, [](const std::vector<double>& x) {
      return Outcome::of_residuals({10 * (x[1] - x[0] * x[0]), 1 - x[0]});
    });
    run.prepare();
    run.execute();
    return run.conclude();
  }

  std::string folder_;
};

TEST_F(StudyEdition, of_an_older_store_stays_in_a_resume) {
  for (const std::uint64_t first : {7, 40, 300}) {
    EXPECT_EQ(run(config(Edition::first, first), false).counts.told, first);
    const auto resumed = run(config(newest_edition, 3000), true);
    EXPECT_EQ(resumed.reason, StopReason::evaluations) << resumed.message;
    EXPECT_EQ(resumed.counts.told, 3000U) << "it does not end because descents agree";
    fs::remove(folder_ + "/study.db");
  }
}

TEST_F(StudyEdition, of_an_older_store_stays_in_a_resume_of_every_optimizer_that_changed) {
  for (const std::string optimizer : {"brent_step", "bfgs", "auto"}) {
    EXPECT_EQ(run(config(Edition::first, 60, optimizer), false).counts.told, 60U);
    auto now = config(newest_edition, 200, optimizer);
    EXPECT_NE(now.fingerprint, config(Edition::first, 60, optimizer).fingerprint);
    EXPECT_EQ(run(now, true).counts.told, 200U) << optimizer;
    fs::remove(folder_ + "/study.db");
  }
}

TEST_F(StudyEdition, is_the_newest_in_a_new_store) {
  EXPECT_EQ(run(config(newest_edition, 40), false).counts.told, 40U);
  const auto resumed = run(config(newest_edition, 3000), true);
  EXPECT_EQ(resumed.reason, StopReason::converged) << resumed.message;
  EXPECT_LT(resumed.counts.told, 1000U);
  EXPECT_EQ(run(config(newest_edition, 3000), true).counts.told, resumed.counts.told);
}

TEST_F(StudyEdition, is_recognized_whatever_the_mode) {
  for (const bool generational : {true, false}) {
    auto begun = config(Edition::first, 100);
    begun.mode = mode_of_user(generational);
    const auto fingerprint = fingerprint_of(begun);
    for (auto now : {config(newest_edition, 100), begun}) {
      now.edition = newest_edition;
      settle_mode(now, 1, fingerprint);
      EXPECT_EQ(now.edition, Edition::first);
      EXPECT_EQ(now.fingerprint, fingerprint);
      EXPECT_EQ(mode_of(now), begun.mode->mode);
    }
  }
  auto other = config(newest_edition, 100);
  settle_mode(other, 1, "0123456789abcdef");
  EXPECT_EQ(other.edition, newest_edition);
}
}  // namespace
}  // namespace culmen
