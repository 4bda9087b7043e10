// Differential evolution: its rules as the papers say them, and what it finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "culmen/optimizer/combine/combinators.hpp"
#include "culmen/optimizer/methods/de/memory.hpp"
#include "culmen/optimizer/methods/de/plan.hpp"
#include "culmen/optimizer/methods/de/population.hpp"
#include "culmen/optimizer/methods/de/variation.hpp"
#include "unit/optimizer/functions.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using de::Memory, de::Plan, de::Point, de::Population, de::Strategy;
using testing::DoubleEq;
using testing::ElementsAre;

Standing valued(double value) { return {Standing::Fate::ok, value}; }

TEST(DeMemory, replaces_the_oldest_pair_by_lehmer_means_weighted_by_the_gains) {
  Memory memory(2, {0.5, 0.9});
  const std::vector<Memory::Success> successes{{{0.5, 0.2}, 1}, {{1.0, 0.8}, 3}};
  memory.learn(successes);
  EXPECT_DOUBLE_EQ(memory.means()[0].factor, (0.25 * 0.25 + 0.75 * 1) / (0.25 * 0.5 + 0.75 * 1));
  EXPECT_DOUBLE_EQ(memory.means()[0].crossover, (0.25 * 0.04 + 0.75 * 0.64) / (0.25 * 0.2 + 0.75 * 0.8));
  EXPECT_EQ(memory.means()[1].factor, 0.5);
  memory.learn({});
  memory.learn({{{0.3, 0.3}, 1}});
  EXPECT_DOUBLE_EQ(memory.means()[1].factor, 0.3) << "a generation without successes changes nothing";
  memory.learn({{{0.7, 0.7}, 1}});
  EXPECT_DOUBLE_EQ(memory.means()[0].factor, 0.7) << "then the first is the oldest";
}

TEST(DeMemory, counts_a_gain_without_measure_as_the_greatest) {
  Memory memory(1, {0.5, 0.9});
  memory.learn({{{0.2, 0.5}, 0}, {{0.8, 0.5}, 1e300}});
  EXPECT_DOUBLE_EQ(memory.means()[0].factor, (0.04 + 0.64) / (0.2 + 0.8));
}

TEST(DeMemory, keeps_a_crossover_of_zero_for_good_where_only_that_succeeded) {
  Random random(1);
  Memory memory(1, {0.5, 0.9});
  memory.learn({{{0.5, 0}, 1}});
  memory.learn({{{0.5, 0.9}, 1}});
  for (int k = 0; k < 100; ++k) EXPECT_EQ(memory.draw(random).crossover, 0);
}

TEST(DeMemory, draws_factors_around_the_mean_and_within_range) {
  Random random(1);
  const Memory memory(6, {0.5, 0.9});
  int below = 0, whole = 0;
  for (int k = 0; k < 10000; ++k) {
    const auto drawn = memory.draw(random);
    EXPECT_GT(drawn.factor, 0);
    EXPECT_LE(drawn.factor, 1);
    EXPECT_GE(drawn.crossover, 0);
    EXPECT_LE(drawn.crossover, 1);
    below += drawn.factor < 0.5 ? 1 : 0;
    whole += drawn.crossover == 1 ? 1 : 0;
  }
  EXPECT_NEAR(below, 10000 * 0.4372 / 0.9372, 200)
      << "half of a Cauchy lies below its middle, but 6 % below 0 are redrawn";
  EXPECT_NEAR(whole, 1587, 150) << "a sixth of a normal lies beyond one deviation";
}

TEST(DePlan, reduces_the_population_linearly_in_the_budget) {
  const Plan plan({18, 4}, 0, 0, 1400);
  std::vector<std::size_t> sizes;
  for (const std::uint64_t used : {0, 100, 700, 1400, 5000}) sizes.push_back(plan.population_at(used));
  EXPECT_THAT(sizes, ElementsAre(18, 17, 11, 4, 4));
  const Plan unlimited({18, 4}, 0, 0, 0);
  EXPECT_EQ(unlimited.population_at(1800), 11U) << "200 generations where no budget is known";
}

TEST(DePlan, lets_the_population_grow_by_half_with_each_run) {
  EXPECT_EQ(Plan({18, 4}, 2, 0, 0).population(), 41U);
  EXPECT_EQ(Plan({18, 4}, 0, 100, 0).population(), 100U) << "what the workers need";
  EXPECT_EQ(Plan({18, 4}, 9, 0, 0).population(), 18U) << "after nine it begins anew";
  EXPECT_EQ(Plan({18, 50}, 0, 0, 0).population_at(100000), 18U) << "never grows within a run";
}

TEST(DePopulation, keeps_the_order_and_shrinks_from_the_empty_and_the_worst) {
  Population population(5);
  for (const std::size_t place : {0, 1, 2, 3}) population.put(place, {0.1 * static_cast<double>(place)}, valued(10));
  EXPECT_THAT(population.order(), ElementsAre(0, 1, 2, 3)) << "the older first among equals";
  population.put(2, {0.5}, valued(1));
  population.put(0, {0.5}, {Standing::Fate::infeasible, 1});
  EXPECT_THAT(population.order(), ElementsAre(2, 1, 3, 0));
  population.shrink(4);
  EXPECT_FALSE(population.alive(4)) << "the empty one";
  population.shrink(2);
  EXPECT_THAT(population.order(), ElementsAre(2, 1));
  EXPECT_EQ(population.size(), 2U);
}

TEST(DeArchive, holds_no_more_than_its_capacity) {
  Random random(1);
  de::Archive archive;
  for (int k = 0; k < 50; ++k) archive.add({static_cast<double>(k)}, 7, random);
  EXPECT_EQ(archive.size(), 7U);
  EXPECT_GT(archive[0][0] + archive[1][0] + archive[2][0], 3) << "later ones have taken places";
  archive.shrink(3, random);
  EXPECT_EQ(archive.size(), 3U);
  de::Archive none;
  none.add({1}, 0, random);
  EXPECT_EQ(none.size(), 0U);
}

TEST(DeVariation, is_current_to_pbest_with_a_difference_that_reaches_into_the_archive) {
  const std::vector<double> at{0.5, 0.51, 0.53, 0.57};
  const double archived = 0.65, factor = 0.5;
  Population population(4);
  for (std::size_t p = 0; p < 4; ++p) population.put(p, {at[p]}, valued(static_cast<double>(p)));
  Random random(1);
  de::Archive archive;
  archive.add({archived}, 1, random);
  std::set<long> allowed, seen;
  const auto key = [](double x) { return std::lround(x * 1e9); };
  for (const std::size_t elite : {0, 1}) {  // a fifth of four is one, and two at least
    for (const std::size_t first : {0, 1, 3}) {
      for (const double second : {at[0], at[1], at[3], archived}) {
        if (second != at[first])
          allowed.insert(key(at[2] + factor * (at[elite] - at[2]) + factor * (at[first] - second)));
      }
    }
  }
  const de::Variation variation(cube(1, 0, 1));
  for (int k = 0; k < 1000; ++k) seen.insert(key(variation.trial(population, archive, 2, {factor, 1}, random)[0]));
  EXPECT_EQ(seen, allowed);
}

TEST(DeVariation, takes_one_gene_at_least_and_goes_half_the_way_to_a_bound_that_it_would_cross) {
  Population population(4);
  for (std::size_t p = 0; p < 4; ++p)
    population.put(p, Point(10, p == 0 ? 0.1 : p == 1 ? 0.0 : 1.0), valued(static_cast<double>(p)));
  const de::Variation variation(cube(10, 0, 1));
  Random random(1);
  bool halved = false;
  for (int k = 0; k < 100; ++k) {
    const auto x = variation.trial(population, {}, 0, {1, 0}, random);
    EXPECT_GE(std::ranges::count(x, 0.1), 9);
    for (const double u : x) {
      EXPECT_GE(u, 0);
      EXPECT_LE(u, 1);
      halved |= u == 0.05;
    }
  }
  EXPECT_TRUE(halved);
}

TEST(DeVariation, inherits_choices_whole_and_loses_none) {
  const Space space{categorical("c", {1.0, 2.0, 3.0, 4.0})};
  Population population(4);
  for (std::size_t p = 0; p < 4; ++p) population.put(p, {p < 2 ? 0.1 : 0.4}, valued(static_cast<double>(p)));
  const de::Variation variation(space);
  Random random(1);
  int inherited = 0, lost = 0;
  for (int k = 0; k < 2000; ++k) {
    const double u = variation.trial(population, {}, 3, {0.5, 1}, random)[0];
    inherited += u == 0.1 || u == 0.4 ? 1 : 0;
    lost += u >= 0.5 ? 1 : 0;
  }
  EXPECT_NEAR(inherited, 1800, 100);
  EXPECT_NEAR(lost, 100, 50);
}

std::size_t median(const Space& space, TestFunction objective, double target, const OptimizerOptions& options = {}) {
  return median_evaluations({"de", space, std::move(objective), target, 100000, options}, 11);
}

TEST(De, finds_minima_of_reals) {
  EXPECT_LE(median(cube(5, -5, 5), sphere, 1e-8), 1800U);
  EXPECT_LE(median(cube(20, -5, 5), sphere, 1e-8), 11000U);
  EXPECT_LE(median(cube(5, -5, 10), rosenbrock, 1e-8), 7000U);
  EXPECT_LE(median(cube(5, -5, 5), rastrigin, 1e-8), 6000U);
}

/// Every kind of parameter; `share` counts only where `on` holds, and is worth switching it on for.
TEST(De, finds_the_best_of_a_mixed_conditional_space) {
  auto share = real("share", 0, 1);
  share.active_when = "on";
  const std::vector<Choice> letters{std::string("a"), std::string("b"), std::string("c"), std::string("d")};
  const Space space{real("x", -5, 5),
                    integer("n", -20, 20),
                    integer("m", 1, 10000, Scale::log),
                    ordinal("size", letters),
                    categorical("c", letters),
                    boolean("on"),
                    share};
  const auto f = [](const Point& x) {
    return square(x[0] - 1.3) + 0.5 * square(x[1] - 7) + square(std::log10(x[2] / 300)) + square(x[3] - 2) +
           (x[4] == 1 ? 0 : 1) + (x[5] == 1 ? square(x[6] - 0.7) : 0.5);
  };
  EXPECT_LE(median(space, f, 1e-6), 3000U);
}

TEST(De, begins_at_the_start_once) {
  auto parameters = cube(3, -5, 5).parameters();
  parameters[0].initial = 1.234567890123;
  const Space space(parameters);
  const auto search = make_search({"de"}, space);
  std::vector<Candidate> batch;
  search->ask(14, batch);
  EXPECT_THAT(batch[0].x, ElementsAre(1.234567890123, 0, 0));
  for (std::size_t k = 1; k < batch.size(); ++k) EXPECT_NE(batch[k].x, batch[0].x);
}

TEST(De, has_trials_around_a_start_that_it_hears_of) {
  const auto search = make_search({"de", {{"population", 4}}, 1, {{1, 1, 1}}}, cube(3, -5, 5));
  std::vector<Candidate> batch;
  double nearest = 10;
  for (int told = 0; told < 200;) {
    batch.clear();
    search->ask(4, batch);
    for (const auto& c : batch) {
      if (told++ > 0) nearest = std::min(nearest, std::abs(c.x[0] - 1) + std::abs(c.x[1] - 1) + std::abs(c.x[2] - 1));
      search->tell(c.id, Outcome::of_value(told == 1 ? 0 : 1 + std::abs(c.x[0] - 1) + std::abs(c.x[1] - 1)));
    }
  }
  EXPECT_LT(nearest, 0.5);
}
}  // namespace
}  // namespace culmen
