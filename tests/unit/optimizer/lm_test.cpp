// Levenberg and Marquardt's descents, and their parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "culmen/optimizer/methods/lm/coordinates.hpp"
#include "culmen/optimizer/methods/lm/magnitude.hpp"
#include "culmen/optimizer/methods/lm/starts.hpp"
#include "culmen/optimizer/parts/differences.hpp"
#include "culmen/optimizer/parts/linear_model.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;
using Residuals = std::function<Point(const Point&)>;

struct Fit {
  Point x;
  double sum = INFINITY;
  std::size_t evaluations = 0;  // until the sum was below the target
  std::string remark;
  std::size_t all = 0;    // evaluations
  bool finished = false;  // its descents agreed
};

/// Residuals that are not finite are a failure.
Fit fit(const Space& space, const Residuals& residuals, std::size_t budget, double target = -1, std::uint64_t seed = 1,
        const OptimizerOptions& options = {}) {
  const auto lm = make_optimizer("lm", space, seed, options, {{true, 1}});
  Fit best;
  std::vector<Candidate> batch;
  auto& told = best.all;
  while (told < budget && best.evaluations == 0 && !lm->converged()) {
    batch.clear();
    if (lm->ask(std::min<std::size_t>(64, budget - told), batch) == 0) break;
    for (const auto& c : batch) {
      auto outcome = Outcome::of_residuals(residuals(c.x));
      outcome.check_finite();
      ++told;
      if (outcome.ok() && outcome.value < best.sum) best.x = c.x, best.sum = outcome.value;
      if (best.sum <= target && best.evaluations == 0) best.evaluations = told;
      lm->tell(c.id, outcome);
    }
  }
  best.remark = lm->remark();
  best.finished = lm->converged();
  return best;
}

Point rosenbrock_residuals(const Point& x) { return {10 * (x[1] - x[0] * x[0]), 1 - x[0]}; }

/// A decay with an offset, of data without noise.
Point decay(const Point& x) {
  Point out;
  for (int t = 0; t < 20; ++t) out.push_back(x[0] * std::exp(-x[1] * t) + x[2] - (3 * std::exp(-0.2 * t) + 0.5));
  return out;
}

TEST(Lm, finds_a_minimum_in_few_evaluations) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_LE(fit(cube(2, -5, 5), rosenbrock_residuals, 2000, 1e-20, seed).evaluations, 500) << seed;
    EXPECT_LE(fit(cube(3, 0.001, 1000), decay, 2000, 1e-20, seed).evaluations, 700) << seed;
  }
}

TEST(Lm, keeps_a_minimum_that_lies_at_a_bound) {
  // Without the box at (1, 1); with it where the slope along the bound vanishes.
  const auto found = fit(Space{real("x", -5, 0.5), real("y", -5, 5)}, rosenbrock_residuals, 1500);
  EXPECT_EQ(found.x[0], 0.5);
  EXPECT_NEAR(found.x[1], 0.25, 1e-9);
}

TEST(Lm, finds_the_best_of_many_minima) {
  const auto wave = [](const Point& x) {
    Point out;
    for (int t = 0; t < 40; ++t) out.push_back(std::sin(x[0] * t) * x[1] - 2 * std::sin(1.7 * t));
    return out;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_LE(fit(Space{real("w", 0.01, 3), real("a", 0.01, 100)}, wave, 20000, 1e-18, seed).evaluations, 8000);
}

TEST(Lm, goes_on_where_evaluations_fail) {
  const auto partly = [](const Point& x) { return x[0] + x[1] > 2.5 ? Point{NAN, NAN} : rosenbrock_residuals(x); };
  EXPECT_GT(fit(cube(2, -5, 5), partly, 3000, 1e-20).evaluations, 0);
  const auto overflowing = [](const Point& x) { return Point{std::exp(x[0]) - 2, 1e200 * std::max(0.0, x[0] - 500)}; };
  EXPECT_GT(fit(cube(1, -1000, 1000), overflowing, 3000, 1e-20).evaluations, 0);
}

TEST(Lm, takes_any_number_of_residuals) {
  const auto fewer = [](const Point& x) { return Point{x[0] + x[1] - 3}; };
  EXPECT_GT(fit(cube(2, -5, 5), fewer, 500, 1e-20).evaluations, 0);
  const auto changing = [](const Point& x) { return x[0] > 1 ? Point{x[0], 1} : Point{x[0]}; };
  EXPECT_GT(fit(cube(1, -5, 5), changing, 500, 1e-20).evaluations, 0);
}

TEST(Lm, ignores_a_parameter_without_effect) {
  const auto f = [](const Point& x) { return Point{x[0] - 1, x[0] * x[0] - 1}; };
  EXPECT_GT(fit(cube(3, -5, 5), f, 500, 1e-20).evaluations, 0);
}

TEST(Lm, works_through_the_noise_that_it_is_told) {
  const auto noisy = [](const Point& x) {
    auto r = decay(x);
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] += 1e-5 * std::sin(1e9 * (x[0] + x[1] + x[2]) + static_cast<double>(i));
    return r;
  };
  EXPECT_GT(fit(cube(3, 0.001, 1000), noisy, 2000, 1e-8, 1, {{"noise", 1e-5}}).evaluations, 0);
}

const OptimizerOptions agreeing{};

TEST(Lm, ends_although_each_descent_finds_a_minimum_of_its_own) {
  // The minimum of each cell has a value of its own; the lowest of 10 000 is hardly found twice.
  const auto cells = [](const Point& x) {
    const double cell = std::floor(x[0]), within = x[0] - cell - 0.5;
    return Point{within, 1 + 1e-3 * std::fmod(1000 * std::abs(std::sin(cell)), 1)};
  };
  const auto found = fit(Space{real("x", 0, 10000)}, cells, 1'000'000, -1, 1, agreeing);
  EXPECT_TRUE(found.finished);
  EXPECT_THAT(found.remark, testing::EndsWith("and the last 500 found no better one, so the search ended; with "
                                              "agreement = 0 it continues"));
  EXPECT_FALSE(fit(Space{real("x", 0, 10000)}, cells, 100'000, -1, 1, {{"agreement", 0}}).finished);
}

TEST(Lm, says_how_many_descents_agree) {
  EXPECT_THAT(
      fit(cube(2, -5, 5), rosenbrock_residuals, 3000, -1, 1, agreeing).remark,
      testing::MatchesRegex(
          "[0-9]+ of [0-9]+ local searches ended at the best value, so option 'agreement' ended the search; with "
          "agreement = 0 it continues"));
  EXPECT_THAT(fit(cube(2, -5, 5), rosenbrock_residuals, 3000, -1, 1, {{"agreement", 0}}).remark,
              testing::MatchesRegex("[0-9]+ of [0-9]+ local searches ended at the best value"));
  EXPECT_EQ(fit(cube(2, -5, 5), rosenbrock_residuals, 10).remark, "no local search has ended yet");
}

TEST(Lm, ends_where_descents_come_back_to_the_best_place) {
  const auto noisy = [](const Point& x) {
    auto r = decay(x);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] += 0.1 * std::sin(static_cast<double>(7 * i));
    return r;
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    for (const auto& [n, residuals] :
         {std::pair<std::size_t, Residuals>{2, rosenbrock_residuals}, {3, decay}, {3, noisy}}) {
      const auto found = fit(cube(n, 0.001, 1000), residuals, 20000, -1, seed, agreeing);
      EXPECT_TRUE(found.finished) << seed;
      EXPECT_LT(found.all, 4000) << seed;
    }
    EXPECT_TRUE(
        fit(Space{real("x", -5, 0.5), real("y", -5, 5)}, rosenbrock_residuals, 20000, -1, seed, agreeing).finished)
        << "at a bound";
  }
}

TEST(Lm, ends_by_default_and_goes_on_without_an_agreement) {
  EXPECT_TRUE(fit(cube(2, -5, 5), rosenbrock_residuals, 20000).finished);
  const auto found = fit(cube(2, -5, 5), rosenbrock_residuals, 20000, -1, 1, {{"agreement", 0}});
  EXPECT_FALSE(found.finished);
  EXPECT_EQ(found.all, 20000);
  EXPECT_LT(fit(cube(2, -5, 5), rosenbrock_residuals, 20000, -1, 1, {{"agreement", 2}}).all,
            fit(cube(2, -5, 5), rosenbrock_residuals, 20000, -1, 1, {{"agreement", 20}}).all);
}

TEST(Lm, does_not_take_a_plateau_for_the_minimum) {
  // Nearly everywhere the sum is 1, wherever a descent ends.
  const auto well = [](const Point& x) { return Point{1 - std::exp(-1e3 * (std::pow(x[0] - 0.3, 2) + x[1] * x[1]))}; };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto found = fit(cube(2, -5, 5), well, 200000, 1e-10, seed, agreeing);
    EXPECT_TRUE(found.evaluations > 0 || found.remark.find("found no better one") != std::string::npos)
        << seed << ": " << found.remark;
  }
}

TEST(Lm, ends_though_most_descents_end_in_other_minima) {
  const auto five = [](const Point& x) { return Point{std::sin(2 * x[0]), 0.05 * (x[0] - 6.3), x[1] - 4}; };
  const Space space{real("x", 1, 9), real("y", 1, 9)};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto found = fit(space, five, 20000, -1, seed);
    EXPECT_TRUE(found.finished) << seed << ": " << found.remark;
    EXPECT_NEAR(found.x[0], 6.28, 0.02) << seed;
  }
}

TEST(Lm, needs_no_more_repeats_than_a_given_agreement) {
  const auto waves = [](const Point& x) { return Point{x[0], x[1], 20 * std::sin(3 * x[0]), 20 * std::cos(2 * x[1])}; };
  EXPECT_TRUE(fit(cube(2, -20, 20), waves, 3000, -1, 1, {{"agreement", 4}}).finished);
}

TEST(Lm, ends_after_a_given_number_of_searches) {
  for (const int searches : {1, 5}) {
    const auto found = fit(cube(2, -5, 5), rosenbrock_residuals, 3000, -1, 1, {{"searches", searches}});
    EXPECT_TRUE(found.finished);
    EXPECT_THAT(found.remark, testing::MatchesRegex("option 'searches' ended the study after [0-9]+ local "
                                                    "search(es)?; with searches = 0 it continues"));
  }
}

TEST(Lm, goes_on_while_descents_end_in_many_minima) {
  const auto waves = [](const Point& x) { return Point{x[0], x[1], 20 * std::sin(3 * x[0]), 20 * std::cos(2 * x[1])}; };
  EXPECT_FALSE(fit(cube(2, -20, 20), waves, 3000, -1, 1, agreeing).finished);
}

TEST(Lm, has_so_many_descents_at_a_time) {
  for (const std::size_t descents : {1, 4, 7}) {
    const auto lm = make_optimizer("lm", cube(3, -5, 5), 1, {{"descents", descents}, {"screen", 8}}, {{true, 1}});
    std::vector<Candidate> batch;
    EXPECT_EQ(lm->ask(1000, batch), 8 * descents);
    for (const auto& c : batch) lm->tell(c.id, Outcome::of_residuals(decay(c.x)));
    batch.clear();
    EXPECT_EQ(lm->ask(1000, batch), 3 * descents) << "a Jacobian of each";
  }
}

TEST(LmStep, solves_the_bounded_problem) {
  Eigen::MatrixXd j(3, 2);
  j << 1, 2, 3, 4, 5, 7;
  const Eigen::Vector3d r(1, -1, 2);
  const LinearModel model(j, r);
  const Eigen::Vector2d wide = Eigen::Vector2d::Constant(100), tight(0.1, 100);
  EXPECT_LT((model.step(1e-16, -wide, wide) - j.householderQr().solve(-r)).norm(), 1e-6);
  const auto bounded = model.step(1e-16, -tight, tight);
  EXPECT_EQ(std::abs(bounded[0]), 0.1);
  const Eigen::Vector2d slope = j.transpose() * (j * bounded + r);
  EXPECT_NEAR(slope[1], 0, 1e-6);
  EXPECT_LT(slope[0] * bounded[0], 0);  // only the bound keeps it from going further
  EXPECT_NEAR(model.reduction(bounded), r.squaredNorm() - (r + j * bounded).squaredNorm(), 1e-12);
}

TEST(LmDifferences, are_accurate_and_stay_in_the_box) {
  const Space space{real("a", 1e-3, 1e6), real("b", -2, 2)};
  const lm::Coordinates coordinates(space, false);
  const auto f = [](const Eigen::VectorXd& z) -> Reply {
    return {Eigen::Vector2d(std::sin(z[0]) * z[1], std::exp(z[1])), 0};
  };
  for (const double b : {-2.0, 0.3, 2.0}) {
    const Eigen::Vector2d z(1.2, b);
    Eigen::Matrix2d exact;
    exact << std::cos(1.2) * b, std::sin(1.2), 0, std::exp(b);
    double allowed = 1e-6;
    for (const auto accuracy : {Accuracy::forward, Accuracy::central, Accuracy::five_point}) {
      Differences differences(coordinates.lower(), coordinates.upper(), 2.3e-16, true);
      std::vector<Eigen::VectorXd> points;
      std::vector<Reply> replies;
      differences.propose(z, coordinates.sizes_at(z), accuracy, points);
      for (const auto& p : points) {
        EXPECT_TRUE((p.array() >= coordinates.lower().array()).all() &&
                    (p.array() <= coordinates.upper().array()).all());
        replies.push_back(f(p));
      }
      EXPECT_LT((differences.jacobian(f(z).residuals, replies) - exact).norm(), allowed);
      allowed = b == 0.3 && accuracy == Accuracy::central ? 1e-10 : 1e-8;
    }
  }
}

TEST(LmMagnitude, has_an_inverse) {
  for (const auto& p : {real("a", 2e-4, 4e8), real("b", -4e8, -2e-4), real("c", -1e6, 10), real("d", 0, 3)}) {
    for (const double u : {0.0, 0.1, 0.5, 0.99, 1.0})
      EXPECT_NEAR(lm::magnitude_of(p, lm::of_magnitude(p, u)), u, 1e-12) << p.name;
  }
}

TEST(LmStarts, cover_the_magnitudes_of_a_wide_box) {
  lm::Starts starts(Space{real("a", 2e-4, 4e8), real("b", -4e8, -2e-4), real("c", -1e6, 1e6)}, 3);
  int small = 0, small_negative = 0, near_zero = 0;
  for (int k = 0; k < 1024; ++k) {
    const auto x = starts.fresh();
    small += x[0] < 1;
    small_negative += x[1] > -1;
    near_zero += std::abs(x[2]) < 1e5;
  }
  EXPECT_NEAR(small, 1024 * std::log(1 / 2e-4) / std::log(4e8 / 2e-4), 20);
  EXPECT_NEAR(small_negative, small, 20);
  EXPECT_GT(near_zero, 1024 / 5);
}

TEST(Lm, stays_in_the_narrowest_box) {
  const double least = std::numeric_limits<double>::denorm_min();
  const std::vector<std::pair<double, double>> boxes{{0, least},         {-least, least},           {-least, 0},
                                                     {least, 2 * least}, {1, std::nextafter(1, 2)}, {0, 1e-310}};
  for (const auto& [lower, upper] : boxes) {
    fit(
        Space{real("x", lower, upper), real("y", -5, 5)},
        [&, lower = lower, upper = upper](const Point& x) {
          EXPECT_TRUE(x[0] >= lower && x[0] <= upper) << x[0];
          return Point{x[0] - lower, x[1] - 1};
        },
        300);
  }
}
}  // namespace
}  // namespace culmen
