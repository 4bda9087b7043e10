// Genetic algorithms of several objectives: their operators as the papers say them, and what they and mocma find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "culmen/evaluation/front.hpp"
#include "culmen/optimizer/methods/nsga/hypervolume.hpp"
#include "culmen/optimizer/parts/genetic_variation.hpp"
#include "unit/optimizer/functions.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {

TEST(SimulatedBinaryCrossover, spreads_children_as_its_density_says_where_bounds_are_far) {
  const double a = 0.4999, b = 0.5001;
  const auto spread = [&](double u) {
    const auto [below, above] = crossed(a, b, 15, u);
    EXPECT_NEAR(below + above, a + b, 1e-12) << "their mean is that of the parents";
    return (above - below) / (b - a);
  };
  EXPECT_NEAR(spread(0.5), 1, 1e-9);
  for (const double u : {0.05, 0.2, 0.45}) EXPECT_NEAR(spread(u), std::pow(2 * u, 1.0 / 16), 1e-9);
  for (const double u : {0.55, 0.8, 0.99}) EXPECT_NEAR(spread(u), std::pow(2 * (1 - u), -1.0 / 16), 1e-9);
}

TEST(SimulatedBinaryCrossover, keeps_children_inside_and_reaches_the_nearer_bound_at_most) {
  const auto [below, above] = crossed(0.05, 0.95, 15, 1 - 1e-16);
  EXPECT_NEAR(below, 0, 1e-9);
  EXPECT_NEAR(above, 1, 1e-9);
  for (double u = 0; u < 1; u += 0.01) {
    const auto [low, high] = crossed(0.01, 0.6, 2, u);
    EXPECT_TRUE(low >= 0 && low <= high && high <= 1);
  }
  EXPECT_EQ(crossed(0.3, 0.3, 15, 0.9), (std::pair{0.3, 0.3}));
  EXPECT_NEAR(crossed(0, 0.5, 15, 0.9).first, (0.5 - 0.5 * std::pow(0.9, 1.0 / 16)) / 2, 1e-12)
      << "from a parent on a bound all of the density lies inside";
}

TEST(PolynomialMutation, moves_as_its_density_says_and_stops_at_the_bounds) {
  EXPECT_DOUBLE_EQ(mutated(0.5, 20, 0.5), 0.5);
  EXPECT_NEAR(mutated(0.5, 20, 0.25) - 0.5, std::pow(0.5, 1.0 / 21) - 1, 1e-6);
  EXPECT_NEAR(mutated(0.5, 20, 0.75) - 0.5, 1 - std::pow(0.5, 1.0 / 21), 1e-6);
  EXPECT_NEAR(mutated(0.01, 20, 0), 0, 1e-12);
  EXPECT_NEAR(mutated(0.99, 20, 1), 1, 1e-12);
  for (double u = 0.01; u < 1; u += 0.01) EXPECT_GE(mutated(0.02, 20, u), mutated(0.02, 20, u - 0.01));
}

TEST(NsgaVariation, changes_one_parameter_by_mutation_on_average) {
  Random random(1);
  const auto space = cube(10, 0, 1);
  const GeneticVariation variation(space);
  const std::vector<double> parent(10, 0.5);  // the same twice: crossover changes nothing
  int changed = 0;
  for (int k = 0; k < 5000; ++k) {
    const auto [one, other] = variation.children(parent, parent, random);
    for (std::size_t i = 0; i < 10; ++i) changed += (one[i] != 0.5 ? 1 : 0) + (other[i] != 0.5 ? 1 : 0);
  }
  EXPECT_NEAR(changed, 10000, 400);
}

TEST(NsgaVariation, keeps_to_cells_and_reaches_every_choice) {
  Random random(2);
  const Space space{integer("n", 1, 5), categorical("c", {"s", "t", "u"}), boolean("on")};
  const GeneticVariation variation(space);
  std::vector<double> point{0.5, 0.5, 0.25};
  std::vector<double> x(3), back(3);
  std::set<std::vector<double>> seen;
  for (int k = 0; k < 2000; ++k) {
    point = variation.children(point, point, random).first;
    space.from_unit(point, x);
    space.to_unit(x, back);
    EXPECT_THAT(back, testing::Pointwise(testing::DoubleNear(1e-12), point));
    seen.insert(x);
  }
  EXPECT_EQ(seen.size(), 30);
}

class SeveralObjectives : public testing::TestWithParam<std::tuple<const char*, Mode>> {};

TEST_P(SeveralObjectives, covers_a_front_of_two) {
  const auto [name, mode] = GetParam();
  const Terms terms{.yield = {false, 2}, .mode = mode};
  const auto optimizer = make_optimizer(name, cube(10, 0, 1), 1, {{"population", 40}}, terms);
  Front front;
  std::vector<Candidate> running;
  for (std::size_t told = 0; told < 8000; ++told) {
    if (running.size() < 40) optimizer->ask(40 - running.size(), running);
    const auto one = running.begin() + static_cast<std::ptrdiff_t>(told * 7 % running.size());
    const auto outcome = zdt1(one->x);
    front.add(*one, outcome);
    optimizer->tell(one->id, outcome);
    running.erase(one);
  }
  EXPECT_LT(gap_of_zdt1(front), 0.04);
}

TEST_P(SeveralObjectives, does_not_try_a_vector_twice_while_there_are_others) {
  const auto [name, mode] = GetParam();
  const Space space{integer("n", 1, 40), categorical("c", {"s", "t", "u"}), boolean("on")};
  const Terms terms{.yield = {false, 2}, .mode = mode};
  const auto optimizer = make_optimizer(name, space, 3, {{"population", 20}}, terms);
  std::set<std::vector<double>> seen;
  std::vector<Candidate> batch;
  for (std::size_t told = 0; told < 40;) {
    batch.clear();
    optimizer->ask(1, batch);
    for (const auto& c : batch) {
      EXPECT_TRUE(seen.insert(c.x).second) << "candidate " << told;
      auto outcome = Outcome::of_value(c.x[0]);
      outcome.values = {c.x[0], 40 - c.x[0] + c.x[1]};
      optimizer->tell(c.id, outcome);
      ++told;
    }
  }
}

TEST_P(SeveralObjectives, prefers_what_violates_less_to_what_is_better_and_forgets_failures) {
  const auto [name, mode] = GetParam();
  const Terms terms{.yield = {false, 2}, .mode = mode};
  const auto optimizer = make_optimizer(name, cube(2, 0, 1), 5, {{"population", 20}}, terms);
  std::vector<Candidate> batch;
  std::size_t feasible = 0;
  for (std::size_t told = 0; told < 2000;) {
    batch.clear();
    optimizer->ask(20, batch);
    for (const auto& c : batch) {
      auto outcome = c.x[1] > 0.9 ? Outcome::failure(Status::crashed, "") : zdt1(c.x);
      outcome.violation = std::max(0.0, 0.7 - c.x[1]);
      feasible += told >= 1000 && outcome.feasible() ? 1 : 0;
      optimizer->tell(c.id, outcome);
      ++told;
    }
  }
  EXPECT_GT(feasible, 400) << "of 1000; a fifth of the square is";
}

/// DTLZ2 (Deb, Thiele, Laumanns and Zitzler 2005): the front is the part of the unit sphere with no value below 0.
Outcome dtlz2(const std::vector<double>& x, std::size_t objectives) {
  double g = 1;
  for (std::size_t i = objectives - 1; i < x.size(); ++i) g += (x[i] - 0.5) * (x[i] - 0.5);
  std::vector<double> values(objectives, g);
  for (std::size_t k = 0; k < objectives; ++k) {
    for (std::size_t i = 0; i + 1 + k < objectives; ++i) values[k] *= std::cos(x[i] * std::acos(0.0));
    if (k > 0) values[k] *= std::sin(x[objectives - 1 - k] * std::acos(0.0));
  }
  auto outcome = Outcome::of_value(values.front());
  outcome.values = std::move(values);
  return outcome;
}

/// The values of all that are asked.
std::vector<nsga::Values> last_of_dtlz2(const char* name, Mode mode, std::size_t objectives, std::size_t budget) {
  const Terms terms{.yield = {false, objectives}, .mode = mode};
  const auto optimizer = make_optimizer(name, cube(objectives + 7, 0, 1), 1, {{"population", 91}}, terms);
  std::vector<nsga::Values> all;
  std::vector<Candidate> batch;
  while (all.size() < budget) {
    batch.clear();
    optimizer->ask(20, batch);
    for (const auto& c : batch) {
      const auto outcome = dtlz2(c.x, objectives);
      all.push_back(outcome.values);
      optimizer->tell(c.id, outcome);
    }
  }
  return all;
}

class ManyObjectives : public SeveralObjectives {};

TEST_P(ManyObjectives, dominates_nearly_all_that_can_be_of_three_objectives) {
  const auto [name, mode] = GetParam();
  const auto all = last_of_dtlz2(name, mode, 3, 9000);
  const double everything = 1.1 * 1.1 * 1.1 - std::acos(0.0) / 3;
  const double found = nsga::hypervolume(all, {1.1, 1.1, 1.1});
  EXPECT_GT(found, 0.95 * everything);
}

TEST_P(ManyObjectives, comes_to_the_front_of_five_unless_it_goes_by_crowding) {
  const auto [name, mode] = GetParam();
  if (std::string(name) == "nsga2") return;
  const auto all = last_of_dtlz2(name, mode, 5, 9000);
  double beyond = 0;
  for (auto v = all.end() - 1000; v != all.end(); ++v) {
    double sum = 0;
    for (const double f : *v) sum += f * f;
    beyond += (std::sqrt(sum) - 1) / 1000;
  }
  EXPECT_LT(beyond, 0.05);
}

std::string name_of(const testing::TestParamInfo<std::tuple<const char*, Mode>>& info) {
  return std::string(std::get<0>(info.param)) + (std::get<1>(info.param) == Mode::generational ? "" : "_asynchronous");
}

const auto modes = testing::Values(Mode::generational, Mode::asynchronous);
INSTANTIATE_TEST_SUITE_P(All, SeveralObjectives,
                         testing::Combine(testing::Values("nsga2", "nsga3", "sms_emoa", "mocma"), modes), name_of);
INSTANTIATE_TEST_SUITE_P(All, ManyObjectives, testing::Combine(testing::Values("nsga2", "nsga3", "sms_emoa"), modes),
                         name_of);
}  // namespace
}  // namespace culmen
