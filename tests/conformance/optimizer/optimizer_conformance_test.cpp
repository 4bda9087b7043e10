#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/optimizer/broken_optimizers.hpp"
#include "conformance/optimizer/optimizer_conformance.hpp"

namespace culmen::conformance {
namespace {
/// Residuals only for optimizers that need them. Otherwise `auto` would choose such an optimizer instead of searching
/// by itself.
Yield yield_of(const OptimizerInfo& info) { return {.residuals = info.needs_residuals}; }

struct Case {
  std::string optimizer;
  Yield yield;
  std::pair<std::string, Space> space;
  Mode mode = Mode::generational;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& info : optimizer_catalogue()) {
    for (const auto& space : conformance_spaces()) {
      const auto yield = yield_of(info);
      if (!obstacle(info, space.second, yield).empty()) continue;
      all.push_back({info.name, yield, space});
      if (info.asynchronous) all.push_back({info.name, yield, space, Mode::asynchronous});
    }
  }
  const Yield values;
  for (const auto* chain : {"evolution,cmaes", "grid,cmaes", "racing,evolution"}) {
    for (const auto mode : {Mode::generational, Mode::asynchronous})
      all.push_back({chain, values, conformance_spaces().front(), mode});
  }
  return all;
}

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.optimizer << " on " << c.space.first << (c.mode == Mode::generational ? "" : ", asynchronous");
}

/// A grid of twenty parameters would be too large, models of hundreds of points too slow.
OptimizerOptions enough(const std::string& optimizer) {
  if (optimizer == "bayes" || optimizer == "auto") return {{"points", 10.0}};
  if (optimizer == "grid,cmaes") return {{"grid.points", 500}};
  return optimizer == "grid" ? OptimizerOptions{{"total", 1000000}} : OptimizerOptions{};
}

void expect_all(const std::vector<OptimizerPromise>& promises, const OptimizerFactory& factory, const Space& space,
                const std::vector<std::uint64_t>& seeds) {
  for (const auto& promise : promises) {
    for (const auto seed : seeds)
      EXPECT_EQ(promise.holds(factory, space, seed), "") << promise.name << ", seed " << seed;
  }
}

std::vector<std::uint64_t> seeds_of(const Case& c) {
  const std::vector<std::uint64_t> all =
      c.mode == Mode::generational ? std::vector<std::uint64_t>{1, 2, 77} : std::vector<std::uint64_t>{1, 77};
#ifdef __SANITIZE_ADDRESS__  // it looks at memory, which all seeds use in the same way; each is taken by some cases
  return {all[(c.optimizer.size() + c.space.first.size()) % all.size()]};
#endif
  return all;
}

class EveryOptimizer : public testing::TestWithParam<Case> {};

TEST_P(EveryOptimizer, keeps_every_promise) {
  const auto& [optimizer, yield, space, mode] = GetParam();
  const Terms terms{.yield = yield, .mode = mode};
  const auto factory = [&](const Space& s, std::uint64_t seed) {
    return make_optimizer(optimizer, s, seed, enough(optimizer), terms);
  };
  expect_all(optimizer_promises(), factory, space.second, seeds_of(GetParam()));
  if (mode == Mode::asynchronous) expect_all(asynchronous_promises(), factory, space.second, {2});
}

INSTANTIATE_TEST_SUITE_P(All, EveryOptimizer, testing::ValuesIn(cases()), [](const auto& info) {
  auto name = info.param.optimizer;
  std::ranges::replace(name, ',', '_');
  return name + "_" + info.param.space.first + (info.param.mode == Mode::generational ? "" : "_asynchronous");
});

const Space mixed{real("x", -5, 5), integer("n", 1, 10), real("rate", 1e-6, 1e2, Scale::log)};

TEST(TheKit, passes_a_sound_optimizer) {
  EXPECT_THAT(broken_promises(optimizer_promises(), sound_optimizer(), mixed, 5), testing::IsEmpty());
  EXPECT_THAT(broken_promises(optimizer_promises(), sound_optimizer_with_restarts(), mixed, 5), testing::IsEmpty());
  EXPECT_THAT(broken_promises(optimizer_promises(), sound_asynchronous_optimizer(), mixed, 5), testing::IsEmpty());
  EXPECT_THAT(broken_promises(asynchronous_promises(), sound_asynchronous_optimizer(), mixed, 5), testing::IsEmpty());
}

class BrokenOptimizerTest : public testing::TestWithParam<BrokenOptimizer> {};

TEST_P(BrokenOptimizerTest, fails_the_kit) {
  EXPECT_THAT(broken_promises(optimizer_promises(), GetParam().make, mixed, 5), testing::Contains(GetParam().promise));
}

class BrokenAsynchronousOptimizerTest : public testing::TestWithParam<BrokenOptimizer> {};

TEST_P(BrokenAsynchronousOptimizerTest, fails_the_kit) {
  EXPECT_THAT(broken_promises(asynchronous_promises(), GetParam().make, mixed, 5),
              testing::Contains(GetParam().promise));
}

INSTANTIATE_TEST_SUITE_P(All, BrokenAsynchronousOptimizerTest, testing::ValuesIn(broken_asynchronous_optimizers()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(All, BrokenOptimizerTest, testing::ValuesIn(broken_optimizers()),
                         [](const auto& info) { return info.param.name; });
}  // namespace
}  // namespace culmen::conformance
