#include "culmen/evaluation/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Extras = std::vector<std::pair<std::string, double>>;

const Space space{real("x", 0, 10), real("wave length", 0, 10), categorical("method", {"ring", "tree"})};
const std::vector<double> at{2, 3, 1};

Outcome with(Extras extras, double value = 0) {
  auto outcome = Outcome::of_value(value);
  outcome.extras = std::move(extras);
  return outcome;
}

Goals derived(std::vector<NamedExpression> expressions) {
  Goals goals;
  goals.derived = std::move(expressions);
  return goals;
}

TEST(Judge, derives_values_from_figures_parameters_and_each_other) {
  const Judge judge(
      derived({{"sum", "press + x * `wave length`"}, {"twice", "2 * sum + value"}, {"tree", "5 * (method == 'tree')"}}),
      space);
  auto outcome = with({{"press", 7}}, 100);
  judge.complete(outcome, at, false);
  EXPECT_THAT(outcome.extras, ElementsAre(Extras::value_type{"press", 7}, Extras::value_type{"sum", 13},
                                          Extras::value_type{"twice", 126}, Extras::value_type{"tree", 5}));
  EXPECT_EQ(outcome.value, 100);
}

TEST(Judge, knows_fixed_parameters) {
  const Space some{real("x", 0, 10), fixed_at(real("y", 0, 10), 4.0)};
  auto outcome = with({});
  Judge(derived({{"sum", "x + y"}}), some).complete(outcome, std::vector<double>{1, 4}, false);
  EXPECT_THAT(outcome.extras, ElementsAre(Extras::value_type{"sum", 5}));
}

TEST(Judge, a_derived_value_may_be_the_objective_or_limited) {
  auto goals = derived({{"cost", "(press - 3)**2"}});
  goals.objectives = {{"cost", Direction::maximize}};
  goals.limits = {{"cost", 0, 10}};
  auto outcome = with({{"press", 7}});
  Judge(goals, space).complete(outcome, at, true);
  EXPECT_EQ(outcome.value, -16);
  EXPECT_EQ(outcome.violation, 6);
  EXPECT_THAT(outcome.extras, ElementsAre(Extras::value_type{"press", 7}));
}

TEST(Judge, residuals_are_named_values) {
  auto goals = derived({{"r1", "a - 1"}, {"r2", "(a - x) / 2"}});
  goals.residuals = {"r1", "r2"};
  auto outcome = with({{"a", 4}});
  Judge(goals, space).complete(outcome, at, true);
  EXPECT_THAT(outcome.residuals, ElementsAre(3, 1));
  EXPECT_EQ(outcome.value, 10);
  EXPECT_THAT(outcome.extras, ElementsAre(Extras::value_type{"a", 4}));
  goals.loss = {LossKind::cauchy, 1};
  outcome = with({{"a", 4}});
  Judge(goals, space).complete(outcome, at, true);
  EXPECT_DOUBLE_EQ(outcome.value, std::log(10) + std::log(2));
  goals.objectives = {{"a", Direction::minimize}};
  EXPECT_THROW(Judge(goals, space), InputError);
}

TEST(Judge, conditions_are_limits) {
  Goals goals{{{"cost", Direction::maximize}}, {}};
  goals.conditions = {{"strong", "press <= 2 * x and cost > 0"}};
  const Judge judge(goals, space);
  auto outcome = with({{"press", 7}, {"cost", 1}});
  judge.complete(outcome, at, true);
  EXPECT_EQ(outcome.violation, 3);
  std::vector<double> out;
  judge.slacks(outcome, at, out);
  EXPECT_THAT(out, ElementsAre(3, -1));
  judge.slacks({}, at, out = {});
  EXPECT_EQ(out.size(), 2U);
}

TEST(Judge, an_inactive_parameter_makes_no_failure) {
  auto goals = derived({{"sum", "press + x"}});
  goals.conditions = {{"small", "press <= x"}};
  auto outcome = with({{"press", 7}}, 1);
  Judge(goals, space).complete(outcome, std::vector<double>{NAN, 3, 1}, false);
  ASSERT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_TRUE(std::isnan(outcome.extras[1].second));
  EXPECT_EQ(outcome.violation, 0);
}

TEST(Judge, says_what_an_outcome_lacks) {
  auto outcome = with({{"press", 7}});
  Judge(derived({{"twice", "2 * pres"}}), space).complete(outcome, at, false);
  EXPECT_EQ(outcome.status, Status::wrong_shape);
  EXPECT_EQ(
      outcome.message,
      "the outcome has no value 'pres', which the expression of twice needs; it has press; did you mean 'press'?");
  outcome = with({{"press", 7}});
  Judge(derived({{"twice", "2 * metod"}}), space).complete(outcome, at, false);
  EXPECT_THAT(outcome.message, HasSubstr("did you mean 'method'?"));
  outcome = with({{"press", 7}});
  Judge(derived({{"press", "x"}}), space).complete(outcome, at, false);
  EXPECT_THAT(outcome.message, HasSubstr("the outcome already has a value 'press'"));
  outcome = with({{"press", 7}});
  Judge(derived({{"twice", "2 * value"}}), space).complete(outcome, at, true);
  EXPECT_THAT(outcome.message, HasSubstr("no value 'value'")) << "figures have no other value";
}

TEST(Judge, a_value_is_not_taken_for_the_parameter_of_its_name) {
  const Judge judge(derived({{"misfit", "(x - 1)**2"}}), space);
  auto outcome = with({{"x", 1.8}});
  judge.complete(outcome, at, false);
  EXPECT_EQ(outcome.status, Status::wrong_shape);
  EXPECT_EQ(outcome.message,
            "the outcome has a value 'x' of 1.8, but the parameter 'x' is 2; the expression of misfit could mean "
            "either; give the value another name");
  auto echo = with({{"x", 2.0004}});
  judge.complete(echo, at, false);
  EXPECT_EQ(echo.extra("misfit"), 1) << "it is the parameter, printed with few digits";
  auto other = with({{"wave length", 1}});
  judge.complete(other, at, false);
  EXPECT_TRUE(other.ok()) << "no expression uses it";
}

TEST(Judge, says_what_expressions_need) {
  auto goals = derived({{"a", "2 * press + x"}, {"b", "a + value"}});
  goals.conditions = {{"c", "a < mass"}};
  using Need = std::pair<std::string, std::string>;
  EXPECT_THAT(Judge(goals, space).needs(), ElementsAre(Need{"a", "press"}, Need{"b", "value"}, Need{"c", "mass"}));
}

TEST(Judge, mistakes_in_expressions_are_sentences) {
  const auto said = [](const Goals& goals) -> std::string {
    try {
      Judge(goals, space);
    } catch (const InputError& e) {
      return e.what();
    }
    return "nothing";
  };
  EXPECT_EQ(said(derived({{"a", "2 *"}})),
            "derived value 'a': \"2 *\", character 4: expected a number, a name or '(', got the end");
  EXPECT_THAT(said(derived({{"a", "method"}})), HasSubstr("expected a number, got a string"));
  EXPECT_THAT(said(derived({{"a", "1"}, {"a", "2"}})), HasSubstr("is given twice"));
  EXPECT_THAT(said(derived({{"x", "1"}})), HasSubstr("has the name of a parameter"));
  EXPECT_EQ(said(derived({{"a", "b + 1"}, {"b", "2"}})),
            "derived value 'a' uses 'b', which comes later; change their order");
  EXPECT_EQ(said(derived({{"a", "a + 1"}})), "derived value 'a' uses itself; give it another name");
  Goals goals;
  goals.conditions = {{"a", "press + 1"}};
  EXPECT_THAT(said(goals), HasSubstr("limit 'a': \"press + 1\", character 10: expected a condition"));
}

TEST(Judge, goals_with_expressions_survive_their_encoding) {
  auto goals = derived({{"a", "2 * x"}, {"b", "a"}});
  goals.conditions = {{"c", "a < 3"}};
  goals.residuals = {"a", "b"};
  Bytes bytes;
  ByteWriter writer(bytes);
  encode(goals, writer);
  ByteReader reader(bytes);
  EXPECT_EQ(decode_goals(reader), goals);
  EXPECT_EQ(reader.left(), 0U);
}
}  // namespace
}  // namespace culmen
