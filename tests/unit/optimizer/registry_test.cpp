#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/catalogue/choice.hpp"
#include "culmen/optimizer/core/info.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
std::string refusal(const std::string& name, const OptimizerOptions& options = {}, const Space& space = cube(2, 0, 1),
                    const Yield& yield = {}) {
  try {
    make_optimizer(name, space, 1, options, {yield});
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Registry, knows_the_optimizers_by_their_names) {
  EXPECT_THAT(optimizer_names(), testing::IsSupersetOf({"cmaes", "evolution", "grid", "lm", "random", "scan"}));
  EXPECT_TRUE(std::ranges::is_sorted(optimizer_names()));
  for (const auto& name : optimizer_names()) {
    if (name == "auto") continue;
    EXPECT_EQ(make_optimizer(name, cube(2, 0, 1), 1, {}, {{true, 1}})->name(), name);
  }
}

TEST(Registry, refuses_an_unknown_name_and_names_the_known) {
  const auto known = fmt::format("{}", fmt::join(optimizer_names(), ", "));
  EXPECT_EQ(refusal("quantum"), "there is no optimizer 'quantum'; known are " + known);
  EXPECT_EQ(refusal("TPE"), "there is no optimizer 'TPE' (here, this method is 'bayes'); known are " + known);
  EXPECT_EQ(refusal("dual_annealing"),
            "there is no optimizer 'dual_annealing' (here, this method is 'annealing'); known are " + known);
  EXPECT_EQ(refusal("cma-es"), "there is no optimizer 'cma-es' (did you mean 'cmaes'?); known are " + known);
}

TEST(Registry, refuses_an_unknown_option_and_names_the_known) {
  EXPECT_EQ(refusal("cmaes", {{"popsize", 8}}),
            "optimizer 'cmaes' has no option 'popsize' (here, this option is 'population'); it has constraints, "
            "covariance, noise, parallel, population, "
            "sigma, stale");
  EXPECT_EQ(
      refusal("cmaes", {{"sigma0", 0.1}}),
      "optimizer 'cmaes' has no option 'sigma0' (here, this option is 'sigma'); it has constraints, covariance, noise, "
      "parallel, population, sigma, stale");
  EXPECT_THAT(refusal("evolution", {{"popsize", 8}}), testing::HasSubstr("(here, this option is 'children')"));
  EXPECT_THAT(refusal("cmaes", {{"seed", 1}}), testing::HasSubstr("has no option 'seed' (set it in the study: seed)"));
  EXPECT_THAT(refusal("cmaes", {{"popul", 1}}), testing::HasSubstr("; it has"));
  EXPECT_EQ(refusal("random", {{"sigma", 0.1}}), "optimizer 'random' has no option 'sigma'; it has none");
}

TEST(Registry, refuses_a_value_that_is_not_allowed) {
  EXPECT_EQ(refusal("cmaes", {{"population", 3}}),
            "optimizer 'cmaes': option 'population' is 3, it must be a whole number from 4 to 10000");
  EXPECT_EQ(refusal("cmaes", {{"population", 8.5}}),
            "optimizer 'cmaes': option 'population' is 8.5, it must be a whole number from 4 to 10000");
  EXPECT_EQ(refusal("cmaes", {{"sigma", std::nan("")}}),
            "optimizer 'cmaes': option 'sigma' is nan, it must be a number from 1e-06 to 1");
  EXPECT_EQ(refusal("cmaes", {{"population", 8}, {"sigma", 0.1}}), "accepted");
  EXPECT_EQ(refusal("cmaes", {{"population", "many"}}),
            "optimizer 'cmaes': option 'population' is \"many\", it must be a whole number from 4 to 10000");
  EXPECT_EQ(
      refusal("grid", {{"order", "row"}}),
      "optimizer 'grid': option 'order' is \"row\", it must be one of \"spread\", \"rows\" (did you mean 'rows'?)");
  EXPECT_EQ(refusal("grid", {{"order", 2}}),
            "optimizer 'grid': option 'order' is 2, it must be one of \"spread\", \"rows\"");
  EXPECT_EQ(refusal("grid", {{"points", true}}),
            "optimizer 'grid': option 'points' is true, it must be a whole number from 2 to 1000000");
}

Space with_categorical() { return Space{real("x", 0, 1), categorical("c", {1.0, 2.0})}; }

Space with_condition() {
  auto y = real("y", 0, 1);
  y.active_when = "x > 0.5";
  return Space{real("x", 0, 1), y};
}

TEST(Registry, refuses_an_optimizer_that_cannot_work_on_this) {
  EXPECT_EQ(
      refusal("lm"),
      "optimizer 'lm' needs residuals: return them from the evaluator and write result = \"residuals\", or remove the "
      "optimizer, and culmen chooses one");
  EXPECT_EQ(refusal("lm", {}, with_categorical(), {true, 1}),
            "optimizer 'lm' needs real parameters that are always active; 'c' is categorical; remove the optimizer, "
            "and culmen chooses one");
  EXPECT_EQ(refusal("lm", {}, with_condition(), {true, 1}),
            "optimizer 'lm' needs real parameters that are always active; 'y' is conditional; remove the optimizer, "
            "and culmen chooses one");
  EXPECT_EQ(refusal("cmaes", {}, with_categorical()),
            "optimizer 'cmaes' needs parameters with an order; 'c' is categorical; remove the optimizer, and culmen "
            "chooses one");
  EXPECT_EQ(refusal("cmaes", {}, cube(2, 0, 1), {false, 3}),
            "optimizer 'cmaes' takes one objective, not 3; remove the optimizer, and culmen chooses one");
  EXPECT_EQ(refusal("mocma", {}, cube(2, 0, 1), {false, 3}),
            "optimizer 'mocma' takes two objectives at most, not 3; remove the optimizer, and culmen chooses one");
}

TEST(Registry, chooses_what_suits_the_space) {
  const Space mixed{real("x", 0, 1), integer("n", 1, 9), boolean("on"), ordinal("size", {1.0, 2.0})};
  EXPECT_EQ(default_optimizer(cube(2, 0, 1), {true, 1}).name, "lm");
  EXPECT_EQ(default_optimizer(cube(2, 0, 1), {false, 1}).name, "auto");
  EXPECT_EQ(default_optimizer(mixed, {true, 1}).name, "auto");
  EXPECT_EQ(default_optimizer(with_categorical(), {false, 1}).name, "auto");
  EXPECT_EQ(default_optimizer(with_condition(), {false, 1}).name, "auto");
  EXPECT_EQ(default_optimizer(mixed, {.objectives = 1, .limits = true}).name, "auto");
  EXPECT_EQ(default_optimizer(cube(2, 0, 1), {.residuals = true, .limits = true}).name, "auto");
  EXPECT_EQ(default_optimizer(Space({real("x", 0, 1)}, {{"half", "x < 0.5"}}), {true, 1}).name, "auto");
  for (const auto& [space, yield, name] : {std::tuple{with_categorical(), Yield{true, 1, true}, "auto"},
                                           {with_condition(), Yield{true, 1, true}, "auto"},
                                           {with_categorical(), Yield{false, 2}, "mocma"},
                                           {cube(2, 0, 1), Yield{false, 2}, "mocma"},
                                           {cube(2, 0, 1), Yield{false, 3}, "sms_emoa"}}) {
    const auto chosen = default_optimizer(space, yield);
    EXPECT_EQ(chosen.name, name);
    EXPECT_EQ(refusal(chosen.name, {}, space, yield), "accepted") << chosen.why;
  }
}

TEST(Registry, fits_a_population_to_the_budget_where_none_is_given) {
  const auto fitted = [](const char* name, std::uint64_t budget, const OptimizerOptions& options = {}) {
    const auto optimizer = make_optimizer(name, cube(2, 0, 1), 1, options, {{false, 3}, budget});
    std::vector<Candidate> generation;
    return optimizer->ask(1000, generation);
  };
  EXPECT_EQ(fitted("evolution", 1), 10U);
  EXPECT_EQ(fitted("evolution", 10000), 60U);
  EXPECT_EQ(fitted("evolution", 10000000), 100U);
  EXPECT_EQ(fitted("evolution", 0), 100U) << "no budget";
  EXPECT_EQ(fitted("evolution", 1000, {{"parents", 50}}), 50U);
  EXPECT_EQ(fitted("evolution", 1000, {{"children", 64}}), 64U);
  for (const char* name : {"nsga2", "nsga3", "sms_emoa", "auto"}) EXPECT_EQ(fitted(name, 1000), 19U) << name;
}

TEST(Registry, names_what_auto_is_where_it_has_options_of_another) {
  EXPECT_EQ(
      refusal("auto", {{"parallel", 4}}, cube(2, 0, 1), {false, 2}),
      "this study uses the optimizer 'mocma' (two objectives), so 'auto' has no option 'parallel' here; write name = "
      "\"mocma\" to set options of 'mocma'");
  EXPECT_EQ(make_optimizer("auto", cube(2, 0, 1), 1, {}, {{true, 1}})->name(), "lm");
}

TEST(Registry, says_that_only_python_knows_the_optimizers_of_python_libraries) {
  for (const char* name : {"optuna:TPESampler", "pycma", "nevergrad:NGOpt", "pagmo:de1220", "pygmo:de1220"})
    EXPECT_THAT(refusal(name, {}, cube(2, 0, 1), {}), ::testing::HasSubstr("a C++ program cannot")) << name;
}

TEST(Registry, declares_options_that_its_own_rules_accept) {
  for (const auto& info : optimizer_catalogue()) {
    EXPECT_FALSE(info.about.empty());
    EXPECT_TRUE(std::ranges::is_sorted(info.options, {}, &OptionRule::name)) << info.name;
    for (const auto& rule : info.options) {
      EXPECT_NE(rule.standard.has_value(), !rule.otherwise.empty()) << info.name << ' ' << rule.name;
      if (!rule.standard) continue;
      EXPECT_EQ(refusal(info.name, {{rule.name, *rule.standard}}, cube(2, 0, 1), {info.needs_residuals, 1}),
                "accepted");
    }
  }
}
}  // namespace
}  // namespace culmen
