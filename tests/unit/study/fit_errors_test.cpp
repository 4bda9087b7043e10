// The errors of least_squares: if evaluations beside the best parameters fail, at bounds, and with a robust loss.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "culmen/study/run/culmen.hpp"
#include "culmen/study/run/fit_errors.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;

Point deviations(const Point& x) {
  const Point y{1.0, 2.9, 5.2, 6.8, 9.1};
  Point out;
  for (std::size_t k = 0; k < y.size(); ++k) out.push_back(x[0] + x[1] * static_cast<double>(k) - y[k]);
  return out;
}

/// The start is the best candidate: it costs all of the evaluations of the fit.
Space at_best() {
  auto a = real("a", -10, 10), b = real("b", -10, 10);
  a.initial = 0.96, b.initial = 2.02;
  return Space{a, b};
}

TEST(FitErrors, say_which_evaluation_failed) {
  const auto fragile = [](const Point& x) {
    if (x != Point{0.96, 2.02}) throw std::runtime_error("no convergence");
    return deviations(x);
  };
  const auto fit = least_squares(fragile, at_best(), {.evaluations = 1, .workers = 1, .optimizer = "random"});
  EXPECT_TRUE(fit.errors.empty() && fit.covariance.empty());
  EXPECT_EQ(fit.errors_message, "no derivative could be computed: a: no convergence; b: no convergence");
}

TEST(FitErrors, hold_a_parameter_fixed_beside_which_evaluations_fail) {
  const auto fragile = [](const Point& x) {
    if (x[0] != 0.96) throw std::runtime_error("a moved");
    return deviations(x);
  };
  const auto fit = least_squares(fragile, at_best(), {.evaluations = 1, .workers = 1, .optimizer = "random"});
  ASSERT_EQ(fit.errors.size(), 2U) << fit.errors_message;
  EXPECT_TRUE(std::isnan(fit.errors[0]));
  EXPECT_NEAR(fit.errors[1], std::sqrt(1.0 / 30), 1e-6);
  EXPECT_EQ(fit.errors_message, "parameters without a derivative are held fixed and have no error: a: a moved");
}

TEST(FitErrors, use_the_other_side_if_one_fails) {
  const auto half = [](const Point& x) {
    if (x[0] > 0.96) throw std::runtime_error("too large");
    return deviations(x);
  };
  const auto fit = least_squares(half, at_best(), {.evaluations = 1, .workers = 1, .optimizer = "random"});
  ASSERT_EQ(fit.errors.size(), 2U) << fit.errors_message;
  EXPECT_NEAR(fit.errors[0], std::sqrt(0.6), 1e-6);
  EXPECT_EQ(fit.errors_message, "");
}

TEST(FitErrors, say_that_residuals_differ_in_number) {
  const auto changing = [](const Point& x) {
    auto out = deviations(x);
    if (x != Point{0.96, 2.02}) out.pop_back();
    return out;
  };
  const auto fit = least_squares(changing, at_best(), {.evaluations = 1, .workers = 1, .optimizer = "random"});
  EXPECT_TRUE(fit.errors.empty());
  EXPECT_NE(fit.errors_message.find("a: "), std::string::npos) << fit.errors_message;
}

TEST(FitErrors, of_a_robust_loss_include_the_sandwich) {
  const auto residuals = [](const Point& x) { return Point{x[0] - 1, x[0] - 1, x[0] - 30}; };
  const auto fit = least_squares(residuals, Space{real("x", -50, 50)},
                                 {.evaluations = 500, .workers = 1, .loss = {LossKind::huber, 0.5}});
  // A = 2; the halves of the gradients are 0.25, 0.25 and -0.5; N/dof = 3/2.
  ASSERT_EQ(fit.sandwich.size(), 1U) << fit.errors_message;
  EXPECT_NEAR(fit.sandwich[0], std::sqrt((0.0625 + 0.0625 + 0.25) / 4 * 1.5), 1e-5);
  EXPECT_TRUE(least_squares(residuals, Space{real("x", -50, 50)}, {.evaluations = 500}).sandwich.empty());
}

TEST(FitErrors, reach_the_ranks_as_a_note) {
  const FitErrors whole{{{1, 0.1}, {0.1, 2}}, {{3, 0.2}, {0.2, 4}}, "b: why"};
  for (const auto& errors : {whole, FitErrors{whole.covariance, {}, ""}, FitErrors{{}, {}, "none"}, FitErrors{}})
    EXPECT_EQ(from_note(to_note(errors)), errors);
}
}  // namespace
}  // namespace culmen
