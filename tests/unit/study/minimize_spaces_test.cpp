#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "culmen/base/error.hpp"
#include "culmen/study/run/culmen.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> two_bowls(const std::vector<double>& x) { return {x[0] * x[0], (x[0] - 2) * (x[0] - 2)}; }

TEST(MinimizeSpaces, several_objectives_give_a_front) {
  const auto found = minimize_several(two_bowls, 2, Space{real("x", -5, 5)}, {.evaluations = 2000, .workers = 2});
  EXPECT_EQ(found.optimizer, "mocma");
  EXPECT_GT(found.front.size(), 50U);
  for (const auto& point : found.front) {
    EXPECT_NEAR(point.x[0], 1, 1.01);
    EXPECT_THAT(point.values, ElementsAre(point.x[0] * point.x[0], std::pow(point.x[0] - 2, 2)));
  }
}

TEST(MinimizeSpaces, a_larger_budget_goes_on_with_the_population_of_the_first) {
  const auto folder = testing::TempDir();
  const auto store = folder + "/culmen-budgets.db";
  for (const auto* end : {"", "-wal", "-shm"}) std::remove((store + end).c_str());
  const auto run = [&](std::size_t evaluations, bool resume) {
    return minimize_several(two_bowls, 2, Space{real("x", -5, 5)},
                            {.evaluations = evaluations, .workers = 2, .store = store, .resume = resume});
  };
  run(300, false);
  EXPECT_EQ(run(3000, true).evaluations, 3000U);
  std::remove(store.c_str());
}

TEST(MinimizeSpaces, several_objectives_need_several_values) {
  const auto one = [](const std::vector<double>& x) { return x; };
  const auto found = minimize_several(one, 2, Space{real("x", -5, 5)}, {.evaluations = 10});
  EXPECT_EQ(found.failed, 3U) << "more would be of no use";
  EXPECT_THROW(minimize_several(two_bowls, 1, Space{real("x", -5, 5)}), InputError);
  EXPECT_THROW(minimize_several(two_bowls, 2, Space{real("x", -5, 5)}, {.target = 1}), InputError);
}

TEST(MinimizeSpaces, starts_are_evaluated_first_and_stagnation_ends) {
  std::vector<double> first;
  const auto flat = [&](const std::vector<double>& x) {
    if (first.empty()) first = x;
    return 1.0;
  };
  const auto found = minimize(flat, Space{real("x", -5, 5)},
                              {.stagnation = 30, .starts = {{4.25}}, .workers = 1, .optimizer = "random"});
  EXPECT_THAT(first, ElementsAre(4.25));
  EXPECT_EQ(found.evaluations, 31U);
  EXPECT_THAT(found.message, HasSubstr("no more improvement"));
}

TEST(MinimizeSpaces, a_fixed_parameter_reaches_the_function_and_the_result) {
  const Space space{fixed_at(integer("n", 1, 9), std::int64_t{3}), real("x", -5, 5), fixed_at(real("z", 2, 2), 2.0)};
  const auto f = [](const std::vector<double>& x) {
    return x.size() == 3 && x[0] == 3 && x[2] == 2 ? (x[1] - 1) * (x[1] - 1) : std::nan("");
  };
  const auto result = minimize(f, space, {.evaluations = 100, .starts = {{3, 1, 2}}, .workers = 1});
  EXPECT_EQ(result.failed, 0u);
  EXPECT_EQ(result.x, (std::vector<double>{3, 1, 2}));
  EXPECT_THROW(minimize(f, space, {.evaluations = 9, .starts = {{4, 1, 2}}}), InputError);
}

TEST(MinimizeSpaces, a_constraint_holds_and_a_condition_shows_as_nan) {
  auto parameters = std::vector{real("x", -1, 1), boolean("curved"), real("bend", 0, 1)};
  parameters[2].active_when = "curved";
  const Space space(parameters, {{"right", "x >= 0.25"}});
  const auto f = [](const std::vector<double>& p) {
    EXPECT_GE(p[0], 0.25);
    EXPECT_EQ(std::isnan(p[2]), p[1] == 0);
    return p[0] + (p[1] != 0 ? p[2] - 0.5 : 0);
  };
  const auto found = minimize(f, space, {.evaluations = 3000, .workers = 1});
  EXPECT_NEAR(found.value, -0.25, 1e-2);
}

}  // namespace
}  // namespace culmen
