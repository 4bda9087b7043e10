// Wrong arguments of minimize() in a C++ program: each is answered by one sentence, before anything is evaluated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "culmen/study/run/culmen.hpp"

namespace culmen {
namespace {

const auto square = [](const std::vector<double>& p) { return p[0] * p[0]; };

std::string answer(const std::function<void()>& use) {
  try {
    use();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

std::string answer(const MinimizeOptions& options) {
  return answer([&] { minimize(square, Space{real("x", -1, 1)}, options); });
}

TEST(WrongUses, a_space) {
  EXPECT_EQ(answer([] { Space{real("x", 1, -1)}; }), "parameter 'x': lower bound 1 must be below upper bound -1");
  EXPECT_EQ(answer([] {
              Space{real("x", 0, 1), real("x", 0, 1)};
            }),
            "there are two parameters 'x'; give each its own name");
  EXPECT_EQ(answer([] { minimize(square, Space{}); }), "the space has no parameter; give at least one");
}

TEST(WrongUses, an_optimizer) {
  MinimizeOptions options;
  options.optimizer = "CMA-ES";
  EXPECT_THAT(answer(options), ::testing::StartsWith("there is no optimizer 'CMA-ES' (did you mean 'cmaes'?)"));
  options.optimizer = "random";
  options.optimizer_options = {{"sigma", 0.2}};
  EXPECT_THAT(answer(options), ::testing::StartsWith("optimizer 'random' has no option 'sigma'"));
}

TEST(WrongUses, no_end_and_no_store) {
  MinimizeOptions options;
  options.evaluations = 0;
  EXPECT_EQ(answer(options),
            "nothing ends this study; give at least one of evaluations, target, stagnation and wall_time_s");
  options.evaluations = 10;
  options.resume = true;
  EXPECT_EQ(answer(options), "resume = true needs a store, but store is empty; give its file name");
  options.store = "/nowhere/fit.db";
  options.resume = false;
  EXPECT_EQ(answer(options), "/nowhere/fit.db: there is no folder /nowhere");
}

TEST(WrongUses, a_function_that_is_none) {
  const auto use = [] { minimize(nullptr, Space{real("x", -1, 1)}); };
  EXPECT_EQ(answer(use), "minimize() got an empty function; give one that takes a std::vector<double>");
}

TEST(WrongUses, a_function_and_its_team) {
  const Space space{real("x", -1, 1)};
  const auto alone = [](const std::vector<double>& x) { return x[0]; };
  const auto together = [](const std::vector<double>& x, int) { return x[0]; };
  EXPECT_EQ(answer([&] { minimize(alone, space, {.team_size = 2}); }),
            "team_size = 2, but the function takes no communicator; let it take one, or remove team_size");
  EXPECT_EQ(answer([&] { minimize(together, space, MinimizeOptions{}); }),
            "the function takes a communicator, but team_size is 0; give the number of ranks of a team");
  EXPECT_EQ(answer([&] { minimize(together, space, {.team_size = 2}); }),
            "team_size = 2: teams consist of the ranks of an MPI launch; start with culmen launch, mpiexec or srun");
}

}  // namespace
}  // namespace culmen
