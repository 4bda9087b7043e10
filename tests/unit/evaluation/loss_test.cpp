#include "culmen/evaluation/loss.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/goals.hpp"

namespace culmen {
namespace {
constexpr std::array robust{LossKind::soft_l1, LossKind::huber, LossKind::cauchy, LossKind::arctan};

TEST(Loss, without_a_loss_the_value_is_the_sum_of_squares) {
  const std::vector<double> r{0.1, -0.2, 3e-7, 1.7};
  auto outcome = Outcome::of_residuals(r);
  const double sum = outcome.value;
  judge(outcome, {}, false);
  EXPECT_EQ(outcome.value, sum);
  EXPECT_EQ(Loss{}.value(r), sum);
}

TEST(Loss, the_values_are_twice_the_costs_of_scipy) {
  // 2 * scipy.optimize.least_squares(lambda x: [0.5, -3, 40] + 0 * x, 1.0, loss=…, f_scale=2).cost
  const std::vector<double> r{0.5, -3, 40};
  const std::array expected{158.8682915090976, 164.25, 28.9329641818586, 11.133148556859341};
  for (std::size_t k = 0; k < robust.size(); ++k) EXPECT_NEAR((Loss{robust[k], 2}.value(r)), expected[k], 1e-9) << k;
}

TEST(Loss, weights_are_its_derivatives) {
  constexpr double h = 1e-4;
  for (const auto kind : robust) {
    const Loss loss{kind, 0.7};
    const auto value = [&](double r) { return loss.value(std::array{r}); };
    for (const double r : {-3.0, -0.6, 0.0, 0.1, 0.65, 0.9, 12.0}) {
      const auto weight = loss.weight(r);
      EXPECT_NEAR(2 * weight.slope * r, (value(r + h) - value(r - h)) / (2 * h), 1e-6);
      EXPECT_NEAR(2 * weight.curvature, (value(r + h) - 2 * value(r) + value(r - h)) / (h * h), 1e-5);
    }
  }
}

TEST(Loss, a_robust_loss_gives_the_value_of_residuals_alone) {
  const Goals goals{{}, {}, {LossKind::cauchy, 1}};
  auto outcome = Outcome::of_residuals({1, 2});
  judge(outcome, goals, false);
  EXPECT_DOUBLE_EQ(outcome.value, std::log(2) + std::log(5));
  outcome = Outcome::of_value(4);
  judge(outcome, goals, false);
  EXPECT_EQ(outcome.value, 4);
}

TEST(Loss, travels_and_is_checked) {
  const Goals goals{{}, {}, {LossKind::huber, 0.25}};
  Bytes bytes;
  ByteWriter out(bytes);
  encode(goals, out);
  ByteReader in(bytes);
  EXPECT_EQ(decode_goals(in), goals);
  for (const double wrong : std::array<double, 4>{0, -1, INFINITY, NAN})
    EXPECT_THROW((Goals{{}, {}, {{}, wrong}}.check()), InputError);
}
TEST(Loss, its_scale_is_bounded) {
  for (const double scale : {0.0, -1.0, 1e-300, 1e300, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    EXPECT_THROW((Loss{LossKind::huber, scale}.check()), InputError) << scale;
  for (const double scale : {1e-50, 1e50}) {
    for (const auto kind : robust) {
      const Loss loss{kind, scale};
      loss.check();
      EXPECT_TRUE(std::isfinite(loss.value(std::array{1e-100, 1.0, 1e80}))) << scale;
    }
  }
}

}  // namespace
}  // namespace culmen
