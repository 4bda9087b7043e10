#include "culmen/space/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unit/space/messages.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Parameter> parameters{real("x", -10, 10),
                                        integer("n", 1, 100),
                                        ordinal("block", {16.0, 32.0, 64.0}),
                                        categorical("method", {"ring", "tree", "two words"}),
                                        boolean("fast"),
                                        real("wave length", 0, 1)};

double violation(const char* text, std::vector<double> x = {2, 3, 1, 0, 1, 0.5}) {
  return Expression(text, parameters).violation(x);
}

std::string mistake(std::string_view text) {
  return message([&] { Expression(text, parameters); });
}

std::vector<double> slacks(const char* text) {
  std::vector<double> out;
  Expression(text, parameters).slacks(std::vector<double>{2, 3, 1, 0, 1, 0.5}, out);
  return out;
}

TEST(Expression, says_of_each_comparison_how_far_it_is_from_not_holding) {
  EXPECT_THAT(slacks("x <= 5"), ElementsAre(-3));
  EXPECT_THAT(slacks("x > 5"), ElementsAre(3));
  EXPECT_THAT(slacks("0 < x < n and x == 1"), ElementsAre(-2, -1, 1, -1));
  EXPECT_THAT(slacks("not (x > 5 or n > 1)"), ElementsAre(-3, 2));
  EXPECT_THAT(slacks("x > 5 or n > 1"), ElementsAre(-2));
  EXPECT_THAT(slacks("fast and method == 'tree'"), ElementsAre(-1, 1));
  EXPECT_THAT(slacks("log(-x) < 1"), ElementsAre(1e100));
}

TEST(Expression, what_holds_has_no_violation) {
  for (const char* text : {"x <= 2",
                           "x + 2*n == 8",
                           "2 ** 3 ** 2 == 512",
                           "-2 ** 2 == -4",
                           "7 % 4 == 3",
                           "-1 % 4 == 3",
                           "x - n - 1 == -2",
                           "block == 32",
                           "block * n < 100",
                           "method == 'ring'",
                           "method != \"tree\"",
                           "method in ('tree', 'ring')",
                           "fast",
                           "not not fast",
                           "fast == true",
                           "1 < x < n < 10",
                           "not (x > 3 or n > 9)",
                           "`wave length` * 2 == 1",
                           "abs(-x) == 2",
                           "min(x, n, 7) == 2 and max(x, n) == 3",
                           "round(pi) == 3",
                           "sqrt(x * x) + 0.5e1 == 7",
                           "fast + 1 == 2",
                           "n in (1, 2, 3)"})
    EXPECT_EQ(violation(text), 0) << text;
}

TEST(Expression, violation_is_the_distance_of_a_comparison) {
  EXPECT_EQ(violation("x <= 0.5"), 1.5);
  EXPECT_EQ(violation("x >= 5"), 3);
  EXPECT_EQ(violation("x == 4"), 2);
  EXPECT_EQ(violation("x != 2"), 1);
  EXPECT_GT(violation("x < 2"), 0);
  EXPECT_EQ(violation("x <= 1 and n <= 1"), 3);
  EXPECT_EQ(violation("x <= 1 or n <= 1"), 1);
  EXPECT_EQ(violation("not (x <= 1 or n <= 1)"), 0);
  EXPECT_EQ(violation("not (x >= 1 and n >= 1)"), 1);
  EXPECT_EQ(violation("method == 'tree'"), 1);
  EXPECT_EQ(violation("not fast"), 1);
}

TEST(Expression, what_is_no_number_does_not_hold_and_stays_finite) {
  for (const char* text :
       {"sqrt(-x) <= 1", "log(-1) > 0", "x / 0 < 1", "x / 0 - x / 0 == 0", "exp(1e9) < 1", "max(0, sqrt(-x)) <= 1",
        "max(sqrt(-x), 0) <= 1", "min(sqrt(-x), 0) <= 1", "sqrt(-x) != 1", "not (sqrt(-x) == 1)"}) {
    EXPECT_GT(violation(text), 0) << text;
    EXPECT_TRUE(std::isfinite(violation(text))) << text;
  }
}

TEST(Expression, knows_the_parameters_that_it_names) {
  EXPECT_THAT(Expression("n + x < n and method == 'ring'", parameters).names(), ElementsAre(0, 1, 3));
}

TEST(Expression, a_number_may_name_figures_which_follow_the_parameters) {
  const std::vector<Parameter> parameters{real("x", 0, 9), categorical("kind", {"a", "b"})};
  const auto value = [&](const char* text, std::vector<double> x) {
    return Expression(text, parameters, Expression::Type::number).value(x);
  };
  EXPECT_EQ(value("2 * press + x * press", {3, 0, 10}), 50);
  EXPECT_EQ(value("max(`a b`, c) - x", {3, 0, 10, 12}), 9);
  EXPECT_EQ(value("10 * (kind == 'b' and press > 1)", {3, 1, 2}), 10);
  EXPECT_EQ(value("x > 1", {3, 1}), 1);
  const Expression condition("b < a and a < x", parameters, Expression::Type::truth);
  EXPECT_EQ(condition.figures(), (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(condition.violation(std::vector<double>{3, 0, 8, 5}), 5);
  EXPECT_THROW(Expression("kind", parameters, Expression::Type::number), InputError);
  EXPECT_THROW(Expression("press == 'b'", parameters, Expression::Type::truth), InputError);
  EXPECT_THROW(Expression("press < 3", parameters), InputError);
}

TEST(Expression, deep_calls_cost_what_they_are_long) {
  std::string text = "x";
  for (int i = 0; i < 90; ++i) text = "abs(" + text + ")";
  EXPECT_EQ(violation((text + " == 2").c_str()), 0);
}

TEST(Expression, a_mistake_is_one_sentence_that_says_where) {
  EXPECT_EQ(mistake("x + * 3 <= 1"), "\"x + * 3 <= 1\", character 5: expected a number, a name or '(', got '*'");
  EXPECT_THAT(mistake("np.sin(x) <= 1"), HasSubstr("character 3: got '.' after a name; write functions without a "
                                                   "prefix, such as sin(x)"));
  EXPECT_THAT(mistake("x + . <= 1"), HasSubstr("character 5: expected a number, got '.'"));
  EXPECT_THAT(mistake("y <= 1"), HasSubstr("there is no parameter 'y'"));
  EXPECT_THAT(mistake("methd == 'ring'"), HasSubstr("did you mean 'method'?"));
  EXPECT_THAT(mistake("method == 'rnig'"), HasSubstr("parameter 'method' is never 'rnig'; did you mean 'ring'?"));
  EXPECT_THAT(mistake("method == ring"), HasSubstr("there is no parameter 'ring'"));
  EXPECT_THAT(mistake("method == 3"), HasSubstr("a string is compared with a number"));
  EXPECT_THAT(mistake("method < 'ring'"), HasSubstr("compared only by == and !="));
  EXPECT_THAT(mistake("x = 3"), HasSubstr("compare with ==, <= or >="));
  EXPECT_THAT(mistake("x + 3"), HasSubstr("expected a condition, such as a comparison, got a number"));
  EXPECT_THAT(mistake("(x < 3"), HasSubstr("expected ')', got the end"));
  EXPECT_THAT(mistake("x < 3)"), HasSubstr("expected the end or an operator, got ')'"));
  EXPECT_THAT(mistake("x < 3 & n"), HasSubstr("'&' is not allowed in an expression; write 'and'"));
  EXPECT_THAT(mistake("x < 'a"), HasSubstr("has no end"));
  EXPECT_THAT(mistake("sqt(x) < 1"), HasSubstr("did you mean 'sqrt'?"));
  EXPECT_THAT(mistake("x and n < 2"), HasSubstr("a condition before 'and'"));
  EXPECT_THAT(mistake(""), HasSubstr("it is empty"));
  EXPECT_THAT(mistake(std::string(500, '(')), HasSubstr("too deeply"));
  EXPECT_THAT(mistake("x < ü"), HasSubstr("'ü' is not allowed"));
}

}  // namespace
}  // namespace culmen
