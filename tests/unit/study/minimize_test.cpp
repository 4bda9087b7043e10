// minimize and least_squares, as C++ programs call them.
#include "culmen/study/run/culmen.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace culmen {
namespace {
using Point = std::vector<double>;

Point decay(const Point& x) {
  Point out;
  for (int t = 0; t < 6; ++t) out.push_back(x[0] * std::exp(-x[1] * t) - 2.5 * std::exp(-1.3 * t));
  return out;
}

TEST(LeastSquares, chooses_lm_for_reals) {
  const auto result = least_squares(decay, Space{real("a", 0.01, 100), real("b", 0.01, 100)}, {.evaluations = 500});
  EXPECT_EQ(result.optimizer, "lm");
  EXPECT_NEAR(result.x[0], 2.5, 1e-9);
  EXPECT_NEAR(result.x[1], 1.3, 1e-9);
}

TEST(LeastSquares, takes_the_optimizer_that_is_named) {
  const MinimizeOptions options{.evaluations = 50, .optimizer = "cmaes", .optimizer_options = {{"population", 8}}};
  EXPECT_EQ(least_squares(decay, Space{real("a", 0.01, 100), real("b", 0.01, 100)}, options).optimizer, "cmaes");
}

TEST(Minimize, refuses_what_needs_residuals) {
  const auto f = [](const Point& x) { return x[0]; };
  EXPECT_THROW(minimize(f, Space{real("x", 0, 1)}, {.evaluations = 5, .optimizer = "lm"}), InputError);
  EXPECT_EQ(minimize(f, Space{real("x", 0, 1)}, {.evaluations = 5}).optimizer, "auto");
}

TEST(Minimize, says_what_racing_recommends) {
  std::atomic<int> turn = 0;
  const auto noisy = [&](const Point& x) { return x[0] + 0.01 * (turn++ % 7); };
  const Space space{integer("n", 1, 5)};
  const auto found = minimize(noisy, space, {.evaluations = 200, .optimizer = "racing"});
  ASSERT_TRUE(found.recommended);
  EXPECT_EQ(found.recommended->x, Point{1});
  EXPECT_NEAR(found.recommended->value, 1.03, 0.02);
  EXPECT_GE(found.recommended->evaluations, 2U);
  EXPECT_FALSE(minimize(noisy, space, {.evaluations = 20, .optimizer = "random"}).recommended);
}
}  // namespace
}  // namespace culmen
