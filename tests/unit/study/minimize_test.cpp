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

/// A straight line through five points in units of their standard deviations, and a parameter without effect.
Point line(const Point& x) {
  const Point y{1.0, 2.9, 5.2, 6.8, 9.1};
  Point out;
  for (std::size_t k = 0; k < y.size(); ++k) out.push_back(x[0] + x[1] * static_cast<double>(k) - y[k]);
  return out;
}

TEST(LeastSquares, gives_the_errors_of_the_parameters) {
  const Space space{real("a", -10, 10), real("b", -10, 10)};
  const auto fit = least_squares(line, space, {.evaluations = 500, .workers = 2});
  ASSERT_EQ(fit.errors.size(), 2U);
  EXPECT_NEAR(fit.errors[0], std::sqrt(0.6), 1e-7);
  EXPECT_NEAR(fit.errors[1], std::sqrt(0.1), 1e-7);
  EXPECT_NEAR(fit.covariance[0][1], -0.2, 1e-7);
  EXPECT_TRUE(least_squares(line, space, {.evaluations = 500, .errors = false}).errors.empty());
  EXPECT_TRUE(minimize([](const Point& x) { return x[0]; }, space, {.evaluations = 5}).errors.empty());
}

TEST(LeastSquares, has_no_error_for_a_parameter_that_is_fixed_or_has_no_effect) {
  const Space space{real("a", -10, 10), real("b", 2.5, 10), real("none", 0, 1), integer("n", 1, 3),
                    real("c", 1, 9, Scale::log)};
  const auto shifted = [](const Point& x) { return line({x[0] + std::log(x[4]), x[1]}); };
  const auto fit = least_squares(shifted, space, {.evaluations = 2000, .optimizer = "cmaes"});
  EXPECT_EQ(fit.x[1], 2.5);
  for (const double error : fit.errors) EXPECT_TRUE(std::isnan(error));  // a and c only together
  const Space log_scale{real("a", 0.1, 10, Scale::log), real("b", 2.2, 10), real("none", 0, 1)};
  const auto other = least_squares(line, log_scale, {.evaluations = 500});
  EXPECT_NEAR(other.errors[0], std::sqrt(0.2), 1e-6);
  EXPECT_TRUE(std::isnan(other.errors[1]) && std::isnan(other.errors[2]));
}

TEST(LeastSquares, gives_errors_with_fixed_parameters_and_without_bounds) {
  auto free = real("b", -INFINITY, INFINITY);
  free.initial = 1;
  const Space space{fixed_at(real("a", -10, 10), 1.0), free};
  const auto fit = least_squares(line, space, {.evaluations = 500});
  ASSERT_EQ(fit.errors.size(), 2U);
  EXPECT_TRUE(std::isnan(fit.errors[0]));
  EXPECT_NEAR(fit.errors[1], std::sqrt(1.0 / 30), 1e-6);
}

TEST(LeastSquares, takes_a_robust_loss) {
  const auto residuals = [](const Point& x) { return Point{x[0] - 1, x[0] - 1, x[0] - 30}; };
  const Space space{real("x", -50, 50)};
  const MinimizeOptions options{.evaluations = 500, .loss = {LossKind::huber, 0.5}};
  const auto fit = least_squares(residuals, space, options);
  EXPECT_NEAR(fit.x[0], 1.25, 1e-6);  // 2 (x - 1) = f_scale
  EXPECT_NEAR(fit.value, 2 * 0.0625 + 0.25 * (2 * 28.75 / 0.5 - 1), 1e-6);
  EXPECT_NEAR(fit.errors[0], std::sqrt(0.5), 1e-6);
  EXPECT_THROW(minimize([](const Point& x) { return x[0]; }, space, options), InputError);
  EXPECT_THROW(least_squares(residuals, space, {.loss = {LossKind::huber, 0}}), InputError);
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
