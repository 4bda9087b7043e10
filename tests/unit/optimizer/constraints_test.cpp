// Optimizers with constraints and limits whose figures they see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "culmen/evaluation/goals.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "unit/optimizer/functions.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr double inf = std::numeric_limits<double>::infinity();
using Figures = std::vector<std::pair<std::string, double>>;

Space box(std::size_t n, double lower, double upper) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < n; ++i)
    parameters.push_back(real(std::string(1, static_cast<char>('a' + i)), lower, upper));
  return Space(std::move(parameters));
}

struct Limited {
  std::string optimizer;
  Space space;
  std::function<double(const std::vector<double>&)> value;
  std::function<Figures(const std::vector<double>&)> figures;
  std::vector<Limit> limits;
  OptimizerOptions options = {};
  bool evaluate_infeasible = false;
  Mode mode = Mode::generational;
};

struct Came {
  double best = inf;  // of the feasible candidates
  std::vector<std::vector<double>> candidates;
};

Came search(const Limited& p, std::size_t evaluations, std::uint64_t seed = 1) {
  const Goals goals{{}, p.limits};
  Search of{p.optimizer, p.options, seed, {}, p.evaluate_infeasible};
  of.terms.mode = p.mode;
  of.terms.yield.limits = !p.limits.empty();
  of.terms.yield.goals = std::make_shared<Goals>(goals);
  const auto optimizer = make_search(of, p.space);
  Came out;
  std::vector<Candidate> asked;
  while (out.candidates.size() < evaluations && optimizer->ask(1, asked = {}) == 1) {
    auto outcome = Outcome::of_value(p.value(asked[0].x));
    outcome.extras = p.figures(asked[0].x);
    outcome.violation = p.space.violation(asked[0].x);
    judge(outcome, goals, false);
    if (outcome.feasible()) out.best = std::min(out.best, outcome.value);
    out.candidates.push_back(asked[0].x);
    optimizer->tell(asked[0].id, outcome);
  }
  return out;
}

double median_best(const Limited& p, std::size_t evaluations, std::uint64_t seeds = 5) {
  std::vector<double> all;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) all.push_back(search(p, evaluations, seed).best);
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(seeds / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

/// Himmelblau's problem of five parameters (G4 of the CEC collections): least value -30665.538671783.
constexpr double himmelblau_optimum = -30665.538671783;

Space himmelblau_space() {
  return {real("a", 78, 102), real("b", 33, 45), real("c", 27, 45), real("d", 27, 45), real("e", 27, 45)};
}

double himmelblau(const std::vector<double>& x) {
  return 5.3578547 * x[2] * x[2] + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141;
}

Figures himmelblau_figures(const std::vector<double>& x) {
  return {
      {"u", 85.334407 + 0.0056858 * x[1] * x[4] + 0.0006262 * x[0] * x[3] - 0.0022053 * x[2] * x[4]},
      {"v", 80.51249 + 0.0071317 * x[1] * x[4] + 0.0029955 * x[0] * x[1] + 0.0021813 * x[2] * x[2]},
      {"w", 9.300961 + 0.0047026 * x[2] * x[4] + 0.0012547 * x[0] * x[2] + 0.0019085 * x[2] * x[3]},
  };
}

Limited himmelblau_by(const std::string& optimizer, OptimizerOptions options = {}) {
  return {optimizer,
          himmelblau_space(),
          himmelblau,
          himmelblau_figures,
          {{"u", 0, 92}, {"v", 90, 110}, {"w", 20, 25}},
          std::move(options)};
}

/// An ill-conditioned function whose optimum within a ball lies on its surface.
Limited ellipsoid_in_a_ball(const std::string& optimizer, OptimizerOptions options = {}) {
  const auto radius = [](const std::vector<double>& x) {
    double sum = 0;
    for (const double v : x) sum += square(v - 3);
    return Figures{{"radius", sum}};
  };
  return {optimizer, box(5, -5, 5), ellipsoid, radius, {{"radius", -inf, 4}}, std::move(options)};
}

TEST(Lagrangian, solves_what_is_ill_conditioned_at_a_nonlinear_limit) {
  const double optimum = search(ellipsoid_in_a_ball("slsqp"), 3000).best;
  const double with = median_best(ellipsoid_in_a_ball("cmaes"), 3000);
  const double without = median_best(ellipsoid_in_a_ball("cmaes", {{"constraints", "last"}}), 3000);
  EXPECT_LE(with - optimum, 1e-5 * optimum);
  EXPECT_LE(with, without);
}

TEST(Lagrangian, learns_without_generations_too) {
  auto learning = ellipsoid_in_a_ball("cmaes"), last = ellipsoid_in_a_ball("cmaes", {{"constraints", "last"}});
  const double optimum = median_best(learning, 10000);
  learning.mode = last.mode = Mode::asynchronous;
  EXPECT_LE(median_best(learning, 3000), optimum * (1 + 1e-3));
  EXPECT_GE(median_best(last, 3000), optimum * (1 + 1e-2));
}

TEST(Lagrangian, solves_himmelblaus_problem) {
  EXPECT_LE(median_best(himmelblau_by("cmaes"), 3000) - himmelblau_optimum, 1e-3);
}

TEST(Lagrangian, follows_a_thin_band) {
  const auto figures = [](const std::vector<double>& x) { return Figures{{"product", x[0] * x[1]}}; };
  const Limited p{"cmaes", box(4, 0.1, 5), sphere, figures, {{"product", 3, 3.0001}}};
  const double optimum = search({"slsqp", p.space, p.value, p.figures, p.limits}, 2000).best;
  EXPECT_LE(median_best(p, 4000) - optimum, 1e-3);
}

TEST(Lagrangian, does_not_mind_the_scales_of_the_value_and_of_figures) {
  auto p = himmelblau_by("cmaes");
  const auto one = search(p, 800).candidates;
  p.value = [](const std::vector<double>& x) { return 4 * himmelblau(x); };
  p.figures = [](const std::vector<double>& x) {
    auto out = himmelblau_figures(x);
    for (auto& [name, value] : out) value *= 8;
    return out;
  };
  for (auto& l : p.limits) l.lower *= 8, l.upper *= 8;
  EXPECT_EQ(search(p, 800).candidates, one);
}

TEST(Lagrangian, sees_constraints_of_the_space_where_their_violators_are_evaluated) {
  const auto none = [](const std::vector<double>&) { return Figures{}; };
  const Space space({real("x", -5, 5), real("y", -5, 5)}, {{"half", "x + 2 * y >= 4"}});
  const auto value = [](const std::vector<double>& x) { return square(x[0]) + 100 * square(x[1]); };
  const double optimum = 16 * 100.0 / 104;
  EXPECT_LE(median_best({"cmaes", space, value, none, {}, {}, true}, 1000) - optimum, 1e-6);
  EXPECT_LE(median_best({"slsqp", space, value, none, {}, {}, true}, 100) - optimum, 1e-6);
}

TEST(Slsqp, solves_smooth_problems_with_limits_in_few_evaluations) {
  EXPECT_LE(search(himmelblau_by("slsqp"), 100).best - himmelblau_optimum, 1e-4);
  const double there = search(ellipsoid_in_a_ball("slsqp"), 300).best;
  EXPECT_LE(there - search(ellipsoid_in_a_ball("slsqp"), 3000).best, 1e-6 * there);
}

TEST(Auto, begins_with_descents_where_it_sees_the_constraints) {
  EXPECT_LE(search(himmelblau_by("auto"), 100).best - himmelblau_optimum, 1e-4);
  Terms terms;
  terms.yield.limits = true;
  const auto automatic = make_optimizer("auto", himmelblau_space(), 1, {}, terms);
  std::vector<Candidate> asked;
  automatic->ask(1000, asked);
  for (const auto& c : asked) automatic->tell(c.id, Outcome::of_value(1));
  EXPECT_THAT(automatic->remark(), HasSubstr("slsqp found the best value; evaluations: slsqp "));
}

TEST(Auto, loses_nothing_by_a_constraint_that_always_holds) {
  const auto far = [](const std::vector<double>& x) { return square(x[0] - 3) + square(x[1] - x[0]); };
  const auto none = [](const std::vector<double>&) { return Figures{}; };
  for (const auto& p : {box(2, -5, 5).parameters(), std::vector{real("a", -5, 5), real("b", -5, 5), boolean("c")}}) {
    const auto free = search({"auto", Space(p), far, none, {}}, 200);
    const auto bound = search({"auto", Space(p, {{"void", "a + b < 100"}}), far, none, {}}, 200);
    EXPECT_EQ(bound.candidates, free.candidates);
  }
}

TEST(Auto, finds_a_minimum_at_a_constraint_that_it_is_not_shown) {
  const auto far = [](const std::vector<double>& x) { return square(x[0] - 3) + square(x[1] - x[0]); };
  const auto none = [](const std::vector<double>&) { return Figures{}; };
  const Space real_space(box(2, -5, 5).parameters(), {{"line", "a + b <= 2"}});
  EXPECT_LT(median_best({"auto", real_space, far, none, {}}, 600, 7), 3.2 + 1e-2);  // one seed: up to 3.2036
  const Space mixed({real("a", -5, 5), real("b", -5, 5), boolean("c")}, {{"line", "a + b <= 2"}});
  // One seed in four stays 0.01 away, few stay 0.05 away; the free minimum, 0, violates the constraint.
  EXPECT_LT(median_best({"auto", mixed, far, none, {}}, 600, 7), 3.2 + 0.05);
}
}  // namespace
}  // namespace culmen
