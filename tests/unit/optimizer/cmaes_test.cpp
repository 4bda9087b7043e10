// How CMA-ES behaves as an optimizer; how good it is stands in cmaes_quality_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;

std::vector<Point> points(std::size_t n, const TestFunction& objective, std::uint64_t seed) {
  std::vector<Point> out;
  const auto keep = [&](const Point& x) {
    out.push_back(x);
    return objective(x);
  };
  evaluations_to_target({.space = cube(3, -1, 1), .objective = keep, .target = -INFINITY, .budget = n}, seed);
  return out;
}

/// On a grid of 2^-30, so that a whole number can be added without rounding.
double valley(const Point& x) {
  return std::round(std::ldexp(x[0] * x[0] + 3 * std::pow(x[1] - 0.2, 2) + std::abs(x[2]), 30)) * 0x1p-30;
}

TEST(Cmaes, does_not_see_a_constant_that_is_added_to_the_objective) {
  const auto expected = points(20000, valley, 3);
  EXPECT_EQ(points(
                20000, [](const Point& x) { return valley(x) + 1048576; }, 3),
            expected);
}

TEST(Cmaes, does_not_stop_early_when_all_values_are_tiny) {
  const auto sphere = [](const Point& x) { return x[0] * x[0] + std::pow(x[1] - 0.2, 2) + x[2] * x[2]; };
  const Problem usual{.space = cube(3, -1, 1), .objective = sphere, .target = 1e-10};
  const Problem tiny{.space = cube(3, -1, 1),
                     .objective = [&](const Point& x) { return 0x1p-100 * sphere(x); },
                     .target = 0x1p-100 * 1e-10};
  for (std::uint64_t seed = 1; seed < 6; ++seed)
    EXPECT_EQ(evaluations_to_target(tiny, seed), evaluations_to_target(usual, seed));
}

TEST(Cmaes, serves_a_generation_and_then_waits_for_its_last_tell) {
  const auto optimizer = make_optimizer("cmaes", cube(3, -1, 1), 1, {{"population", 6}});
  std::vector<Candidate> batch;
  EXPECT_EQ(optimizer->ask(4, batch), 4);
  EXPECT_EQ(optimizer->ask(4, batch), 2);
  EXPECT_EQ(optimizer->ask(4, batch), 0);
  for (EvaluationId id = 5; id > 0; --id) optimizer->tell(id, Outcome::of_value(1));
  EXPECT_EQ(optimizer->ask(4, batch), 0);
  EXPECT_FALSE(optimizer->finished());
  optimizer->cancel(0);
  EXPECT_EQ(optimizer->ask(10, batch), 6);
}

TEST(Cmaes, serves_whole_rounds_of_what_is_wanted_at_a_time) {
  const auto in_a_generation = [](const OptimizerOptions& options) {
    std::vector<Candidate> batch;
    return make_optimizer("cmaes", cube(3, -1, 1), 1, options)->ask(10000, batch);
  };
  EXPECT_EQ(in_a_generation({}), 7);
  EXPECT_EQ(in_a_generation({{"parallel", 5}}), 10);
  EXPECT_EQ(in_a_generation({{"parallel", 64}}), 64);
  EXPECT_EQ(in_a_generation({{"parallel", 64}, {"population", 100}}), 128);
}

TEST(Cmaes, moves_on_when_everything_fails) {
  const auto all = points(
      5000, [](const Point&) { return std::nan(""); }, 1);
  ASSERT_EQ(all.size(), 5000);
  double lowest = 1, highest = -1;
  for (std::size_t k = 2500; k < all.size(); ++k) {
    lowest = std::min(lowest, all[k][0]);
    highest = std::max(highest, all[k][0]);
  }
  EXPECT_LT(lowest, -0.85);
  EXPECT_GT(highest, 0.9);
}

TEST(Cmaes, begins_at_the_middle_of_the_space) {
  const auto first = points(7, valley, 5);
  Point mean(3, 0.0);
  for (const auto& x : first) {
    for (std::size_t i = 0; i < 3; ++i) mean[i] += x[i] / 7;
  }
  for (const double m : mean) EXPECT_NEAR(m, 0, 0.6);
}

TEST(Cmaes, restarts_after_it_has_converged) {
  const auto all = points(20000, valley, 2);
  const auto far = [](const Point& x) { return std::abs(x[0]) > 0.5; };
  EXPECT_THAT(std::count_if(all.begin() + 10000, all.end(), far), testing::Gt(100));
}
}  // namespace
}  // namespace culmen
