// The parts of a study that a run of further evaluations keeps.
#include "culmen/study/run/further.hpp"

#include <gtest/gtest.h>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {

RunOptions open_to_others(std::size_t workers) {
  RunOptions options;
  options.workers = workers;
  options.place = "processes";
  options.listening.address = "tcp://127.0.0.1:0";
  options.store = "study.db";
  options.resume = true;
  return options;
}

TEST(Further, keeps_all_workers_and_no_store) {
  const auto options = further_options(open_to_others(3));
  EXPECT_EQ(options.workers, 3U);
  EXPECT_EQ(options.place, "processes");
  EXPECT_EQ(options.listening.address, "tcp://127.0.0.1:0");
  EXPECT_EQ(options.store, "");
  EXPECT_FALSE(options.resume);
}

TEST(Further, after_the_end_of_a_study_only_its_own_workers_remain) {
  const auto options = remaining_workers(open_to_others(3));
  EXPECT_EQ(options.workers, 3U);
  EXPECT_FALSE(options.listening);
  EXPECT_THROW(remaining_workers(open_to_others(0)), InputError);
  EXPECT_EQ(remaining_workers({}).workers, 0U) << "one for each CPU";
}

TEST(Further, no_rule_of_the_study_ends_it) {
  StudyConfig config;
  config.stop.evaluations = 7;
  config.failures.give_up_after = 5;
  config.failures.on_failure = OnFailure::stop;
  config.evaluator.working_folder = "fit.evaluations";
  const auto further = further_config(config), other = further_config(config);
  EXPECT_EQ(further.stop.evaluations, 0U);
  EXPECT_EQ(further.failures.give_up_after, 0U);
  EXPECT_EQ(further.failures.on_failure, OnFailure::penalise);
  EXPECT_TRUE(further.evaluator.working_folder.starts_with("fit.evaluations/further-"));
  EXPECT_NE(further.evaluator.working_folder, other.evaluator.working_folder);
}

}  // namespace
}  // namespace culmen
