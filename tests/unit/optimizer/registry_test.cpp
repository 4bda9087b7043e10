#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "culmen/base/error.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
std::string refusal(const std::string& name, const OptimizerOptions& options = {}) {
  try {
    make_optimizer(name, cube(2, 0, 1), 1, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Registry, KnowsTheOptimizersByTheirNames) {
  EXPECT_THAT(optimizer_names(), testing::ElementsAre("cmaes", "random", "sobol"));
  for (const auto& name : optimizer_names()) EXPECT_EQ(make_optimizer(name, cube(2, 0, 1), 1)->name(), name);
}

TEST(Registry, RefusesAnUnknownNameAndNamesTheKnown) {
  EXPECT_EQ(refusal("newton"), "there is no optimizer 'newton'; known are cmaes, random, sobol");
  EXPECT_EQ(refusal("cma-es"),
            "there is no optimizer 'cma-es' (did you mean 'cmaes'?); known are cmaes, random, sobol");
}

TEST(Registry, RefusesAnUnknownOptionAndNamesTheKnown) {
  EXPECT_EQ(refusal("cmaes", {{"popsize", 8}}), "optimizer 'cmaes' has no option 'popsize'; it has population, sigma");
  EXPECT_EQ(refusal("cmaes", {{"sigma0", 0.1}}),
            "optimizer 'cmaes' has no option 'sigma0' (did you mean 'sigma'?); it has population, sigma");
  EXPECT_EQ(refusal("random", {{"sigma", 0.1}}), "optimizer 'random' has no option 'sigma'; it has none");
}

TEST(Registry, RefusesAValueThatIsNotAllowed) {
  EXPECT_EQ(refusal("cmaes", {{"population", 3}}),
            "optimizer 'cmaes': option 'population' is 3, it must be a whole number from 4 to 10000");
  EXPECT_EQ(refusal("cmaes", {{"population", 8.5}}),
            "optimizer 'cmaes': option 'population' is 8.5, it must be a whole number from 4 to 10000");
  EXPECT_EQ(refusal("cmaes", {{"sigma", std::nan("")}}),
            "optimizer 'cmaes': option 'sigma' is nan, it must be a number from 1e-06 to 1");
  EXPECT_EQ(refusal("cmaes", {{"population", 8}, {"sigma", 0.1}}), "accepted");
}
}  // namespace
}  // namespace culmen
