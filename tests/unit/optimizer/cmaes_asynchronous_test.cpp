// CMA-ES that never waits; what every asynchronous optimizer promises stands in the conformance kit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/methods/cmaes/quadratic.hpp"
#include "unit/optimizer/clock.hpp"
#include "unit/optimizer/functions.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;

double median_time(const Problem& problem, std::size_t workers, const Duration& duration, double horizon) {
  std::vector<double> all;
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    all.push_back(time_to_target(problem, seed, workers, duration, horizon));
  std::ranges::sort(all);
  return all[2];
}

Problem ten(TestFunction objective, OptimizerOptions options = {}) {
  return {.space = cube(10, -5, 5), .objective = std::move(objective), .target = 1e-8, .options = std::move(options)};
}

TEST(AsynchronousCmaes, stays_good_when_durations_differ) {
  for (const double sigma : {0.0, 0.5, 1.0}) {
    EXPECT_LE(median_time(ten(sphere), 100, log_normal(sigma), 100), 25) << sigma;
    EXPECT_LE(median_time(ten(ellipsoid), 100, log_normal(sigma), 100), 45) << sigma;
  }
}

/// The same population with each of the cures, and without.
TEST(AsynchronousCmaes, collapses_where_ages_are_ignored) {
  const auto with = [](const std::string& stale) {
    return median_time(ten(ellipsoid, {{"population", 25.0}, {"stale", stale}}), 100, log_normal(0.5), 200);
  };
  EXPECT_LE(with("corrected"), 60);
  EXPECT_GE(with("ignored"), 150);
}

TEST(AsynchronousCmaes, needs_no_more_than_generations_where_there_is_one_worker) {
  for (const auto objective : {sphere, ellipsoid}) {
    const auto problem = ten(objective);
    EXPECT_LE(median_time(problem, 1, log_normal(0), 1e5), static_cast<double>(median_evaluations(problem, 5)));
  }
}

/// Results are as old as four updates. In a curved valley the distribution contracts and grows again meanwhile.
TEST(AsynchronousCmaes, follows_a_curved_valley_with_many_workers) {
  const Problem problem{.space = cube(5, -5, 5), .objective = rosenbrock, .target = 1e-5};
  int missed = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    missed += time_to_target(problem, seed, 200, log_normal(0.05), 40) >= 40 ? 1 : 0;
  EXPECT_LE(missed,
            18);  // of 1440 searches with other seeds, 16 % missed it: more than 18 of 40 in less than one set of 10⁵
}

/// Half of the box answers ten times as fast, and has an optimum of its own that is not as good.
TEST(AsynchronousCmaes, finds_an_optimum_where_evaluations_are_slow) {
  const auto two_valleys = [](const Point& x) {
    double quick = 1 + square(x[0] + 2.5), slow = square(x[0] - 2.5);
    for (std::size_t i = 1; i < x.size(); ++i) quick += square(x[i]), slow += square(x[i]);
    return std::min(quick, slow);
  };
  const Problem problem{.space = cube(5, -5, 5), .objective = two_valleys, .target = 1e-6};
  const auto slow_half = [](const Point& x, Random& random) {
    return (x[0] > 0 ? 10 : 1) * std::exp(0.5 * random.normal());
  };
  int soon = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const double time = time_to_target(problem, seed, 40, slow_half, 1500);
    EXPECT_LT(time, 1500) << seed;
    if (time < 450) ++soon;  // one run
  }
  EXPECT_GE(soon, 15);  // 18 of 20 where all last as long
}

std::vector<Point> first_points(const TestFunction& objective) {
  const auto optimizer = make_optimizer("cmaes", cube(3, -1, 1), 4, {}, {.mode = Mode::asynchronous});
  std::vector<Candidate> open;
  std::vector<Point> out;
  Random dice(1);
  optimizer->resize(20);
  while (out.size() < 3000) {
    const auto before = open.size();
    optimizer->ask(20 - open.size(), open);
    for (auto k = before; k < open.size(); ++k) out.push_back(open[k].x);
    std::swap(open[dice.below(open.size())], open.back());
    optimizer->tell(open.back().id, Outcome::of_value(objective(open.back().x)));
    open.pop_back();
  }
  return out;
}

TEST(AsynchronousCmaes, does_not_see_a_constant_or_a_factor) {
  // On a grid, so that a whole number is added without rounding.
  const auto valley = [](const Point& x) {
    return std::round(std::ldexp(x[0] * x[0] + 3 * square(x[1] - 0.2) + std::abs(x[2]), 30)) * 0x1p-30;
  };
  const auto expected = first_points(valley);
  EXPECT_EQ(first_points([&](const Point& x) { return valley(x) + 1048576; }), expected);
  EXPECT_EQ(first_points([&](const Point& x) { return 0x1p-40 * valley(x); }), expected);
}

/// Jobs that are adopted late, out of an optimizer that is asked and told meanwhile.
TEST(AsynchronousCmaes, hands_out_the_fit_of_many_parameters_as_a_job) {
  const auto optimizer = make_optimizer("cmaes", cube(15, -5, 5), 1, {}, {.mode = Mode::asynchronous});
  optimizer->hand_out_jobs();
  optimizer->resize(50);
  std::vector<Candidate> open;
  std::optional<Job> job;
  double best = 1e300;
  int adopted = 0, since = 0;
  for (int k = 0; k < 6000 && best > 1e-8; ++k) {
    optimizer->ask(50 - open.size(), open);
    const auto first = open.front();
    open.erase(open.begin());
    best = std::min(best, sphere(first.x));
    optimizer->tell(first.id, Outcome::of_value(sphere(first.x)));
    if (!job) {
      job = optimizer->next_job();
      since = 0;
    } else if (++since == 30) {
      optimizer->adopt(job->id, job->work());
      job.reset();
      ++adopted;
    }
  }
  EXPECT_LE(best, 1e-8);
  EXPECT_GE(adopted, 3);
}

TEST(AsynchronousCmaes, goes_down_with_a_thousand_parameters) {
  for (const auto& [objective, share] : {std::pair{&sphere, 0.9}, std::pair{&ellipsoid, 0.5}}) {
    const Problem problem{.space = cube(1000, -5, 5),
                          .objective = objective,
                          .target = share * objective(Point(1000, 0.0)),
                          .options = {{"sigma", 0.03}}};
    EXPECT_LT(time_to_target(problem, 1, 50, log_normal(0.5), 100), 100);
  }
}

/// With room for several of them.
TEST(AsynchronousCmaes, runs_beside_each_other_do_not_starve_the_first) {
  auto problem = ten(sphere, {{"population", 10.0}});
  const double alone = time_to_target(problem, 1, 40, log_normal(0.5), 1000);
  EXPECT_LE(time_to_target(problem, 1, 400, log_normal(0.5), 1000), 1.5 * alone);
}

/// The means of the candidates after 6 results, which came while workers joined, and after 24 more.
std::pair<double, double> means_while_workers_join(std::uint64_t seed) {
  const auto optimizer = make_optimizer("cmaes", cube(5, -1, 1), seed, {}, {.mode = Mode::asynchronous});
  std::vector<Candidate> asked;
  for (const std::size_t workers : {3, 6, 60}) {
    optimizer->resize(workers);
    optimizer->ask(2, asked);
    for (std::size_t k = asked.size() - 2; k < asked.size(); ++k)
      optimizer->tell(asked[k].id, Outcome::of_value(1e3 * asked[k].x[0]));
  }
  const auto mean_of_next = [&](std::size_t told) {
    std::vector<Candidate> next;
    optimizer->ask(60, next);
    double sum = 0;
    for (const auto& c : next) sum += c.x[0] / 60;
    for (std::size_t k = 0; k < told; ++k) optimizer->tell(next[k].id, Outcome::of_value(1e3 * next[k].x[0]));
    return sum;
  };
  const double before = mean_of_next(24);  // 6 and 24 are half of 60
  return {before, mean_of_next(0)};
}

/// The population is that of all workers, and what came before they joined counts.
TEST(AsynchronousCmaes, learns_from_what_came_while_workers_joined) {
  double before = 0, after = 0;  // a single mean of 60 candidates differs by about 0.1 from seed to seed
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto [first, second] = means_while_workers_join(seed);
    before += first / 20, after += second / 20;
  }
  EXPECT_NEAR(before, 0, 0.2);
  EXPECT_LT(after, before - 0.1);
}

TEST(AsynchronousCmaes, moves_on_when_everything_fails) {
  const auto all = first_points([](const Point&) { return std::nan(""); });
  const auto [low, high] = std::ranges::minmax(all, {}, [](const Point& x) { return x[0]; });
  EXPECT_LT(low[0], -0.9);
  EXPECT_GT(high[0], 0.9);
}

cmaes::Density unit_density(Eigen::Index n) { return {Eigen::VectorXd::Zero(n), Eigen::VectorXd::Ones(n), {}, {}, 0}; }

void fit(cmaes::Quadratic& model, Eigen::Index n) {
  if (const auto due = model.due(unit_density(n))) model.adopt(due->frame, due->coefficients());
}

TEST(Quadratic, finds_the_polynomial_that_results_lie_on) {
  const auto f = [](const Eigen::VectorXd& x) {
    return 7 + 2 * x[0] - x[1] + 3 * x[0] * x[0] + x[0] * x[1] - x[2] * x[2];
  };
  cmaes::Quadratic model(3);
  Random random(1);
  Eigen::VectorXd x(3);
  for (int k = 0; k < 20; ++k) {
    for (double& c : x) c = random.normal();
    model.add(x, f(x));
  }
  fit(model, 3);
  ASSERT_TRUE(model.fitted());
  const Eigen::VectorXd origin = Eigen::VectorXd::Zero(3), far = Eigen::VectorXd::Constant(3, 4);
  EXPECT_NEAR(model(far) - model(origin), f(far) - f(origin), 1e-9);
}

TEST(Quadratic, is_the_smallest_where_results_do_not_decide_it) {
  cmaes::Quadratic model(2);
  Random random(1);
  Eigen::VectorXd x(2);
  for (int k = 0; k < 20; ++k) {
    x[0] = x[1] = random.normal();
    model.add(x, x[0] + x[1]);
  }
  fit(model, 2);
  ASSERT_TRUE(model.fitted());
  const Eigen::VectorXd origin = Eigen::VectorXd::Zero(2), across = Eigen::Vector2d(1, -1),
                        along = Eigen::Vector2d(1, 1);
  EXPECT_NEAR(model(along) - model(origin), 2, 1e-9);
  EXPECT_NEAR(model(across) - model(origin), 0, 1e-9);
}

TEST(Quadratic, is_not_fitted_to_too_few_results_or_equal_ones) {
  cmaes::Quadratic few(3), flat(3);
  Random random(1);
  Eigen::VectorXd x(3);
  for (int k = 0; k < 20; ++k) {
    for (double& c : x) c = random.normal();
    if (k < 12) few.add(x, x[0]);
    flat.add(x, 1);
  }
  for (auto* model : {&few, &flat}) {
    fit(*model, 3);
    EXPECT_FALSE(model->fitted());
  }
}

TEST(Quadratic, rank_correlation_is_that_of_kendall) {
  EXPECT_EQ(cmaes::rank_correlation({{1, 10}, {2, 20}, {3, 30}}), 1);
  EXPECT_EQ(cmaes::rank_correlation({{1, 30}, {2, 20}, {3, 10}}), -1);
  EXPECT_NEAR(cmaes::rank_correlation({{1, 10}, {2, 30}, {3, 20}}), 1.0 / 3, 1e-15);
  EXPECT_EQ(cmaes::rank_correlation({{1, 10}}), 0);
}
}  // namespace
}  // namespace culmen
