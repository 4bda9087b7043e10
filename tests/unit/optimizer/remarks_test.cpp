// The sentences for the summary that count descents and evaluations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;
using Point = std::vector<double>;

double bowl(const Point& x) { return std::pow(x[0] - 0.3, 2) + 3 * std::pow(x[1] + 0.7, 2) + x[0] * x[1]; }
double rosenbrock(const Point& x) { return 100 * std::pow(x[1] - x[0] * x[0], 2) + std::pow(1 - x[0], 2); }
double two_valleys(const Point& x) { return std::pow(x[0] * x[0] - 1, 2) + 0.3 * x[0] + x[1] * x[1]; }

struct Ended {
  int at_best = 0, all = 0;
};

Ended descents_of(const std::string& name, const TestFunction& f, const OptimizerOptions& options = {}) {
  const auto optimizer = make_optimizer(name, cube(2, -5, 5), 1, options);
  std::vector<Candidate> asked;
  for (int k = 0; k < 4000; ++k) {
    optimizer->ask(1, asked = {});
    optimizer->tell(asked.at(0).id, Outcome::of_value(f(asked[0].x)));
  }
  std::smatch found;
  const auto remark = optimizer->remark();
  EXPECT_TRUE(std::regex_match(remark, found, std::regex("(\\d+) of (\\d+) local searches ended at the best value")));
  return found.empty() ? Ended{} : Ended{std::stoi(found[1]), std::stoi(found[2])};
}

TEST(Descents, agree_on_the_only_minimum) {
  for (const std::string name : {"bfgs", "conjugate_gradient", "bobyqa"}) {
    const auto [at_best, all] = descents_of(name, bowl);
    EXPECT_GT(all, 10) << name;
    EXPECT_EQ(at_best, all) << name;
  }
  const auto [at_best, all] = descents_of("bfgs", rosenbrock);
  EXPECT_GE(at_best, 0.9 * all) << all;
}

TEST(Descents, agree_on_the_only_minimum_if_few_values_are_huge) {
  const auto walled = [](const Point& x) { return bowl(x) + (std::abs(x[0]) > 4.5 ? 1e30 : 0); };
  const auto [at_best, all] = descents_of("bfgs", walled);
  EXPECT_GT(at_best, all / 2);
}

TEST(Descents, of_two_minima_do_not_agree) {
  const auto [at_best, all] = descents_of("bfgs", two_valleys);
  EXPECT_GT(at_best, 0);
  EXPECT_LT(at_best, 0.8 * all);
}

TEST(Descents, agree_within_the_noise_that_is_known) {
  Random random(3);
  const auto noisy = [&](const Point& x) { return (1 + bowl(x)) * (1 + 1e-4 * random.normal()); };
  const auto [at_best, all] = descents_of("bfgs", noisy, {{"noise", 1e-3}});
  EXPECT_GT(at_best, 0.8 * all) << all;
  EXPECT_GT(all, 5);
}

/// The sum of the numbers after "evaluations: ".
int counted(const std::string& remark) {
  int sum = 0;
  const auto from = remark.find("evaluations: ");
  auto list = remark.substr(from == std::string::npos ? remark.size() : from);
  list = list.substr(0, list.find(';'));
  const std::regex number(" (\\d+)");
  for (std::sregex_iterator m(list.begin(), list.end(), number), end; m != end; ++m) sum += std::stoi((*m)[1]);
  return sum;
}

TEST(Auto, counts_of_the_members_add_up) {
  const auto sum = [](const Point& x) { return std::pow(x[0], 4) + std::pow(x[1] - 1, 2) + std::cos(3 * x[2]); };
  for (const TestFunction& f : {TestFunction(rosenbrock), TestFunction(sum)}) {
    const auto optimizer = make_optimizer("auto", cube(3, -5, 5), 1);
    std::vector<Candidate> asked;
    int told = 0;
    while (told < 600) {
      optimizer->ask(7, asked = {});
      for (const auto& c : asked) {
        if (told == 600) optimizer->cancel(c.id);
        else optimizer->tell(c.id, Outcome::of_value(f(c.x))), ++told;
      }
    }
    EXPECT_EQ(counted(optimizer->remark()), told) << optimizer->remark();
    EXPECT_THAT(optimizer->remark(), HasSubstr("found the best value; evaluations: "));
  }
}

TEST(Auto, counts_leave_out_candidates_that_constraints_reject) {
  const Space space(cube(3, -5, 5).all(), {{"ring", "x0 * x0 + x1 * x1 >= 4"}, {"half", "x0 + x2 <= 1"}});
  const auto optimizer = feasible_only(make_optimizer("auto", space, 1), space);
  std::vector<Candidate> asked;
  int told = 0;
  while (told < 600) {
    optimizer->ask(7, asked = {});
    for (const auto& c : asked) optimizer->tell(c.id, Outcome::of_value(rosenbrock(c.x))), ++told;
  }
  EXPECT_EQ(counted(optimizer->remark()), told) << optimizer->remark();
}

TEST(Auto, nothing_is_found_without_a_success) {
  const auto optimizer = make_optimizer("auto", cube(3, -5, 5), 1);
  std::vector<Candidate> asked;
  for (int k = 1; k <= 60; ++k) {
    optimizer->ask(1, asked = {});
    optimizer->tell(asked.at(0).id, Outcome::failure(Status::failed, "no"));
    EXPECT_EQ(counted(optimizer->remark()), k);
    EXPECT_THAT(optimizer->remark(), testing::Not(HasSubstr("best value")));
  }
}

TEST(Auto, evaluations_that_are_cancelled_are_not_counted) {
  const auto optimizer = make_optimizer("auto", Space{real("x", -5, 5), integer("k", 0, 9)}, 1);
  std::vector<Candidate> asked;
  int told = 0;
  for (int k = 0; k < 300; ++k) {
    optimizer->ask(1, asked = {});
    if (k % 10 == 9) optimizer->cancel(asked.at(0).id);
    else optimizer->tell(asked.at(0).id, Outcome::of_value(asked[0].x[0] * asked[0].x[0] + asked[0].x[1])), ++told;
  }
  EXPECT_EQ(counted(optimizer->remark()), told) << optimizer->remark();
}

}  // namespace
}  // namespace culmen
