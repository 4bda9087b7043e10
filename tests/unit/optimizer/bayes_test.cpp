// Bayesian optimization: how few evaluations it takes, and what it recommends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "culmen/base/random.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
double branin(const std::vector<double>& x) {
  constexpr double pi = std::numbers::pi;
  const double a = x[1] - 5.1 / (4 * pi * pi) * x[0] * x[0] + 5 / pi * x[0] - 6;
  return a * a + 10 * (1 - 1 / (8 * pi)) * std::cos(x[0]) + 10;
}

double hartmann6(const std::vector<double>& x) {
  constexpr double alpha[] = {1, 1.2, 3, 3.2};
  constexpr double a[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double p[4][6] = {{.1312, .1696, .5569, .0124, .8283, .5886},
                              {.2329, .4135, .8307, .3736, .1004, .9991},
                              {.2348, .1451, .3522, .2883, .3047, .6650},
                              {.4047, .8828, .8732, .5743, .1091, .0381}};
  double out = 0;
  for (int i = 0; i < 4; ++i) {
    double sum = 0;
    for (int j = 0; j < 6; ++j) sum += a[i][j] * std::pow(x[static_cast<std::size_t>(j)] - p[i][j], 2);
    out -= alpha[i] * std::exp(-sum);
  }
  return out;
}

/// The start is the best of all, so that nothing is a success.
TEST(Bayes, looks_ever_nearer_to_the_best_until_it_begins_anew) {
  for (const auto mode : {Mode::generational, Mode::asynchronous}) {
    const auto optimizer = make_optimizer("bayes", cube(2, -1, 1), 1, {}, {.mode = mode});
    std::vector<double> distances;
    std::vector<Candidate> batch;
    for (int k = 0; k < 140; ++k) {
      batch.clear();
      ASSERT_EQ(optimizer->ask(1, batch), 1U);
      const auto& x = batch[0].x;
      const double distance = std::max(std::abs(x[0]), std::abs(x[1]));
      distances.push_back(distance);
      optimizer->tell(batch[0].id, Outcome::of_value(distance == 0 ? 0 : 1 + std::sin(9 * x[0]) * std::cos(7 * x[1])));
    }
    const auto farthest = [&](std::size_t from, std::size_t to) {
      return *std::max_element(distances.begin() + from, distances.begin() + to);
    };
    EXPECT_GT(farthest(4, 12), 0.1) << optimizer->generational();
    // How soon depends on the seed. The region is given up when its side is below 1e-6.
    std::size_t nearest = 12;
    for (std::size_t k = nearest; k + 8 < 140; ++k) {
      if (farthest(k, k + 8) < farthest(nearest, nearest + 8)) nearest = k;
    }
    EXPECT_LT(farthest(nearest, nearest + 8), 0.001) << optimizer->generational();
    EXPECT_GT(farthest(nearest + 8, 140), 0.1) << optimizer->generational();
  }
}

TEST(Bayes, finds_the_minimum_of_branin_in_sixty_evaluations) {
  const Problem problem{"bayes", Space{real("x", -5, 10), real("y", 0, 15)}, branin, 0.397887 + 1e-2, 61};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_LE(evaluations_to_target(problem, seed), 60U) << seed;
}

/// It has a second minimum, 0.12 above, where a local search may end.
TEST(Bayes, finds_the_minimum_of_hartmann_6_in_hundred_and_fifty_evaluations) {
  const Problem problem{"bayes", cube(6, 0, 1), hartmann6, -3.32237 + 1e-2, 151};
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) found += evaluations_to_target(problem, seed) <= 150 ? 1 : 0;
  EXPECT_GE(found, 2);  // 52 of 70 other seeds find it, so fewer than two of eight in less than one set of a thousand
}

TEST(Bayes, gives_batches_of_different_candidates) {
  const auto optimizer = make_optimizer("bayes", cube(3, -1, 1), 1, {{"parallel", 8.0}});
  std::vector<Candidate> batch;
  for (int generation = 0; generation < 6; ++generation) {
    batch.clear();
    optimizer->ask(8, batch);
    ASSERT_EQ(batch.size(), 8U);
    std::set<std::vector<double>> different;
    for (const auto& c : batch) different.insert(c.x);
    EXPECT_EQ(different.size(), 8U);
    for (const auto& c : batch) optimizer->tell(c.id, Outcome::of_value(c.x[0] * c.x[0] + c.x[1] + c.x[2]));
  }
}

TEST(Bayes, gives_nothing_while_its_job_is_out_and_serves_without_generations) {
  for (const auto mode : {Mode::generational, Mode::asynchronous}) {
    const auto optimizer = make_optimizer("bayes", cube(2, -1, 1), 1, {}, {.mode = mode});
    optimizer->hand_out_jobs();
    std::vector<Candidate> batch;
    optimizer->ask(4, batch);
    ASSERT_EQ(batch.size(), 4U);
    for (const auto& c : batch) optimizer->tell(c.id, Outcome::of_value(c.x[0] * c.x[0] + c.x[1]));
    const auto job = optimizer->next_job();
    ASSERT_TRUE(job);
    batch.clear();
    EXPECT_EQ(optimizer->ask(2, batch), mode == Mode::generational ? 0U : 2U);
    optimizer->adopt(job->id, job->work());
    batch.clear();
    EXPECT_EQ(optimizer->ask(1, batch), 1U);
  }
}

double noisy_valley(const std::vector<double>& x, Random& noise) {
  double out = 0;
  for (const double v : x) out += (v - 0.3) * (v - 0.3);
  return out + 0.2 * noise.normal();
}

struct Recommended {
  double value, distance, error;
  double beyond_luck;  // how much more its value is than the least that was told
};

Recommended recommended_with_noise(std::uint64_t seed) {
  const auto optimizer = make_optimizer("bayes", cube(2, -1, 1), seed);
  Random noise(seed, 7);
  double luckiest = 1e300;
  std::vector<Candidate> batch;
  for (int k = 0; k < 80; ++k) {
    batch.clear();
    EXPECT_EQ(optimizer->ask(1, batch), 1U);
    const double value = noisy_valley(batch[0].x, noise);
    luckiest = std::min(luckiest, value);
    optimizer->tell(batch[0].id, Outcome::of_value(value));
  }
  const auto found = optimizer->recommendation();
  if (!found) return {1e300, 1e300, 1e300, 0};
  return {found->value, std::hypot(found->x[0] - 0.3, found->x[1] - 0.3), found->error, found->value - luckiest};
}

/// Medians over seeds: with 36 others, one value was -0.2, and one distance 0.36.
TEST(Bayes, recommends_by_the_model_where_there_is_noise) {
  constexpr std::uint64_t seeds = 7;
  std::vector<double> values, distances, beyond_luck;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto found = recommended_with_noise(seed);
    values.push_back(found.value);
    distances.push_back(found.distance);
    beyond_luck.push_back(found.beyond_luck);
    EXPECT_GT(found.error, 0);
    EXPECT_LT(found.error, 0.2);
  }
  const auto median = [](std::vector<double>& of) {
    std::ranges::sort(of);
    return of[seeds / 2];
  };
  EXPECT_GT(median(beyond_luck), 0.1);
  EXPECT_NEAR(median(values), 0, 0.15);
  EXPECT_LT(median(distances), 0.4);
}

TEST(Bayes, recommends_nothing_where_values_are_exact_however_rugged) {
  const auto optimizer = make_optimizer("bayes", cube(2, -1, 1), 1);
  std::vector<Candidate> batch;
  for (int k = 0; k < 60; ++k) {
    batch.clear();
    ASSERT_EQ(optimizer->ask(1, batch), 1U);
    const auto& x = batch[0].x;
    optimizer->tell(batch[0].id, Outcome::of_value(x[0] * x[0] + std::sin(1e4 * x[0]) * std::cos(3e4 * x[1])));
  }
  EXPECT_FALSE(optimizer->recommendation());
}

/// Which of eight is best, and two numbers that only that one has.
TEST(Bayes, finds_a_choice_and_the_parameters_of_it) {
  auto depth = real("depth", 0, 1);
  depth.active_when = "method == 'c'";
  auto rate = real("rate", 1e-3, 1, Scale::log);
  rate.active_when = "method == 'c'";
  std::vector<Choice> names;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) names.emplace_back(std::string(name));
  const Space space{categorical("method", names), depth, rate, real("x", -1, 1)};
  const auto f = [](const std::vector<double>& x) {
    if (x[0] != 2) return 1 + 0.1 * x[0] + x[3] * x[3];
    return 2 * std::abs(x[1] - 0.8) + std::abs(std::log10(x[2]) + 2) + x[3] * x[3];
  };
  for (const auto* model : {"additive", "forest", "gauss"}) {
    const Problem problem{"bayes", space, f, 0.2, 151, {{"model", model}}};
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) found += evaluations_to_target(problem, seed) <= 150 ? 1 : 0;
    EXPECT_GE(found, 2) << model;
  }
}
}  // namespace
}  // namespace culmen
