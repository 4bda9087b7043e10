// Batches, kept output and environments of slots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "helpers.hpp"

namespace culmen {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Evaluations 0, 1, … of these x, together.
std::vector<Outcome> evaluate_together(EvaluatorSpec spec, const std::vector<double>& xs) {
  spec.as<PythonSpec>().batch = 8;
  std::vector<Request> requests;
  for (const double x : xs) requests.push_back({{requests.size(), {x, 2}}, 0});
  const auto evaluator = make_evaluator({two_parameters(), spec});
  EXPECT_EQ(evaluator->batch(), 8U);
  return evaluator->evaluate_batch(requests);
}

std::vector<double> values_of(const std::vector<Outcome>& outcomes) {
  std::vector<double> values;
  for (const auto& outcome : outcomes) values.push_back(outcome.ok() ? outcome.value : -1);
  return values;
}

TEST(Batch, gives_each_candidate_its_value_and_its_share_of_the_time) {
  const auto outcomes = evaluate_together(python_spec("batch_of_first"), {1, 2, 3});
  EXPECT_THAT(values_of(outcomes), ElementsAre(1, 2, 3)) << outcomes[0].message;
  EXPECT_EQ(outcomes[0].duration_s, outcomes[2].duration_s);
}

TEST(Batch, gives_residuals_and_figures_of_each) {
  auto spec = python_spec("batch_with_extras");
  spec.result = ResultKind::residuals;
  const auto outcomes = evaluate_together(spec, {2, 3});
  EXPECT_THAT(values_of(outcomes), ElementsAre(5, 10)) << outcomes[0].message;
  EXPECT_THAT(outcomes[1].extras,
              ElementsAre(std::pair<std::string, double>{"n", 2}, std::pair<std::string, double>{"together", 2}));
}

TEST(Batch, that_fails_as_a_whole_fails_for_the_guilty_alone) {
  for (const char* function : {"raises", "dies", "hangs"}) {
    auto spec = python_spec(std::string("batch_that_") + function + "_below_zero");
    if (std::string(function) == "hangs") spec.time_limit_s = 1;
    const auto outcomes = evaluate_together(spec, {1, -1, 3});
    EXPECT_THAT(values_of(outcomes), ElementsAre(1, -1, 3)) << function << outcomes[0].message;
  }
  EXPECT_THAT(evaluate_together(python_spec("batch_that_raises_below_zero"), {1, -1})[1].message,
              HasSubstr("ValueError: 1 candidates, one below zero"));
  EXPECT_EQ(evaluate_together(python_spec("batch_with_a_nan"), {1, -1})[1].status, Status::not_finite);
}

TEST(Batch, of_another_length_is_a_wrong_shape) {
  const auto outcomes = evaluate_together(python_spec("batch_that_is_too_short"), {1, 2});
  EXPECT_EQ(outcomes[1].status, Status::wrong_shape);
  EXPECT_EQ(outcomes[1].message,
            "the function returned a list of 1 for a batch of 2 candidates; it must have 2 entries, one for each "
            "(each parameter is a vector of 2)");
}

TEST(Batch, is_for_python_alone) {
  auto spec = python_spec("sphere");
  EXPECT_EQ(batch_of(spec), 1U);
  spec.as<PythonSpec>().batch = 2;
  EXPECT_EQ(batch_of(spec), 2U);
  EXPECT_EQ(batch_of(shell_spec("echo 1")), 1U);
  EXPECT_EQ(make_evaluator({two_parameters(), spec})->batch(), 2U);
}

TEST(Output, is_kept_on_wish_where_there_is_any) {
  auto spec = python_spec("prints");
  spec.output = Keep::all;
  spec.working_folder = fresh_folder();
  const auto evaluator = make_evaluator({two_parameters(), spec});
  for (EvaluationId id = 0; id < 4; ++id)
    EXPECT_TRUE(evaluator->evaluate({id, {1.5, id % 2 == 1 ? 2.0 : 1.0}}, 0).ok());
  EXPECT_EQ(read_file(spec.working_folder + "/1/stdout.txt"), "step 1.5\nfrom a child\n");
  EXPECT_EQ(read_file(spec.working_folder + "/3/stdout.txt"), "step 1.5\nfrom a child\n");
  EXPECT_FALSE(std::filesystem::exists(spec.working_folder + "/2"));
}

TEST(Output, of_a_library_is_kept_with_the_evaluation_that_printed_it) {
  auto spec = library_spec("chatty", Isolation::process);
  spec.output = Keep::all;
  spec.working_folder = fresh_folder();
  const auto evaluator = make_evaluator({two_parameters(), spec});
  for (EvaluationId id = 0; id < 3; ++id) evaluator->evaluate({id, {1.5, id == 1 ? 2.0 : 1.0}}, 0);
  EXPECT_EQ(read_file(spec.working_folder + "/1/stdout.txt"), "x is 1.5\n");
  EXPECT_FALSE(std::filesystem::exists(spec.working_folder + "/2"));
}

TEST(Output, is_dropped_on_wish_also_from_failures) {
  auto spec = python_spec("prints_and_dies");
  EXPECT_EQ(evaluate(spec).message,
            "the process that evaluates ended with exit code 3 before it returned a result\na last word");
  spec.output = Keep::none;
  EXPECT_EQ(evaluate(spec).message, "the process that evaluates ended with exit code 3 before it returned a result");
}

TEST(Environment, of_a_slot_is_what_the_study_says) {
  auto spec = python_spec("sees_the_environment");
  spec.environment = {{"A_SETTING", "17"}};
  EXPECT_EQ(evaluate(spec).value, 17);
  spec.environment = {{"A_SETTING", std::nullopt}};
  setenv("A_SETTING", "18", 1);
  EXPECT_EQ(evaluate(spec).value, -1);
  unsetenv("A_SETTING");
}

}  // namespace
}  // namespace culmen
