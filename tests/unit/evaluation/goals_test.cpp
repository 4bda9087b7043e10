#include "culmen/evaluation/goals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/front.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Goals two{{{"cost", Direction::minimize}, {"gain", Direction::maximize}}, {{"stress", -1, 5}}};

Outcome figures(std::vector<std::pair<std::string, double>> extras) {
  auto outcome = Outcome::of_value(0);
  outcome.extras = std::move(extras);
  return outcome;
}

TEST(Goals, several_objectives_come_from_figures_and_are_to_be_minimized) {
  auto outcome = figures({{"stress", 7}, {"gain", 3}, {"cost", 2}});
  judge(outcome, two, true);
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_THAT(outcome.values, ElementsAre(2, -3));
  EXPECT_EQ(outcome.value, 2);
  EXPECT_EQ(outcome.violation, 2);
  EXPECT_EQ(outcome.extras.size(), 1U);
  EXPECT_EQ(two.as_given(1, -3), 3);
}

TEST(Goals, a_figure_that_lacks_is_named) {
  auto outcome = figures({{"stress", 1}, {"gian", 3}, {"cost", 2}});
  judge(outcome, two, true);
  EXPECT_EQ(outcome.status, Status::wrong_shape);
  EXPECT_EQ(
      outcome.message,
      "the outcome has no value 'gain', which [objectives] needs; it has stress, gian, cost; did you mean 'gian'?");
  outcome = figures({{"gain", 3}, {"cost", 2}});
  judge(outcome, two, true);
  EXPECT_THAT(outcome.message, HasSubstr("no value 'stress', which [limits] needs; it has cost, gain"));
}

TEST(Goals, without_figures_the_message_says_how_to_return_them) {
  auto outcome = Outcome::of_value(4);
  judge(outcome, {{}, {{"stress", -1, 2.5}}}, false);
  EXPECT_THAT(outcome.message,
              HasSubstr("it has no named values; a Python function returns (VALUE, {\"stress\": …}), a "
                        "program prints a line stress = …"));
  outcome = figures({});
  judge(outcome, two, true);
  EXPECT_THAT(outcome.message, HasSubstr("a Python function returns {\"cost\": …}, a program prints a line cost = …"));
}

TEST(Goals, a_limit_may_be_on_an_objective_or_the_value) {
  auto outcome = figures({{"gain", 3}});
  judge(outcome, {{{"gain", Direction::maximize}}, {{"gain", -1, 2.5}}}, true);
  EXPECT_EQ(outcome.value, -3);
  EXPECT_EQ(outcome.violation, 0.5);
  outcome = Outcome::of_value(4);
  judge(outcome, {{}, {{"value", 5, 6}}}, false);
  EXPECT_EQ(outcome.violation, 1);
}

TEST(Goals, say_by_how_much_each_bound_is_kept_or_not) {
  auto outcome = figures({{"stress", 7}, {"gain", 3}, {"cost", 2}});
  judge(outcome, two, true);
  std::vector<double> out;
  slacks(outcome, two, out);
  EXPECT_THAT(out, ElementsAre(-8, 2));
  slacks({}, {{}, {{"absent", -INFINITY, 1}}}, out = {});
  EXPECT_THAT(out, ElementsAre(::testing::IsNan()));
  slacks({}, {two.objectives, {{"gain", -INFINITY, 1}}}, out = {});
  EXPECT_THAT(out, ElementsAre(::testing::IsNan()));
}

TEST(Goals, a_figure_that_is_no_number_is_a_failure) {
  for (const char* name : {"cost", "stress"}) {
    auto outcome = figures({{"stress", 1}, {"gain", 3}, {"cost", 2}});
    for (auto& [figure, value] : outcome.extras)
      if (figure == name) value = NAN;
    judge(outcome, two, true);
    EXPECT_EQ(outcome.status, Status::not_finite) << name;
  }
}

TEST(Goals, mistakes_are_sentences) {
  EXPECT_THROW((Goals{{{"a"}, {"a"}}, {}}.check()), InputError);
  EXPECT_THROW((Goals{{}, {{"a"}}}.check()), InputError);
  EXPECT_THROW((Goals{{}, {{"a", 2, 1}}}.check()), InputError);
  EXPECT_NO_THROW(two.check());
}

TEST(Goals, survive_their_encoding) {
  Bytes bytes;
  ByteWriter writer(bytes);
  encode(two, writer);
  ByteReader reader(bytes);
  EXPECT_EQ(decode_goals(reader), two);
}

TEST(Front, keeps_what_nothing_dominates) {
  Front front;
  const auto add = [&](EvaluationId id, std::vector<double> values, double violation = 0) {
    auto outcome = Outcome::of_value(values[0]);
    outcome.values = std::move(values);
    outcome.violation = violation;
    front.add({id, {}}, outcome);
  };
  add(0, {2, 2});
  add(1, {3, 1});
  add(2, {3, 3});
  add(3, {0, 0}, 1);
  add(4, {2, 2});
  add(5, {1, 2});
  std::vector<EvaluationId> ids;
  for (const auto& m : front.members()) ids.push_back(m.candidate.id);
  EXPECT_THAT(ids, ElementsAre(1, 5));
}

}  // namespace
}  // namespace culmen
