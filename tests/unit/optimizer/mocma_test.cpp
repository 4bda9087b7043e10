// MO-CMA-ES: how a member's steps and covariance change, who stays in the front, and what it finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "culmen/evaluation/front.hpp"
#include "culmen/optimizer/combine/mocma/front.hpp"
#include "culmen/optimizer/combine/mocma/member.hpp"
#include "unit/optimizer/functions.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using mocma::Matrix, mocma::Member, mocma::Strategy, mocma::Vector;

Outcome of_values(std::vector<double> values) {
  auto outcome = Outcome::of_value(values.front());
  outcome.values = std::move(values);
  return outcome;
}

TEST(SuccessRule, holds_sigma_where_two_of_eleven_succeed) {
  const Strategy strategy(5);
  auto member = strategy.founder(Vector::Zero(5), 0.1);
  for (int k = 0; k < 1100; ++k) strategy.adapt(member, k % 11 < 2);
  EXPECT_NEAR(std::log(member.sigma / 0.1), 0, 0.3);
  auto lucky = member, unlucky = member;
  for (int k = 0; k < 20; ++k) strategy.adapt(lucky, true), strategy.adapt(unlucky, false);
  EXPECT_GT(lucky.sigma, 2 * member.sigma);
  EXPECT_LT(unlucky.sigma, 0.8 * member.sigma);
}

TEST(CovarianceOfAMember, is_mixed_with_that_of_its_path) {
  const Strategy strategy(3);
  auto member = strategy.founder(Vector::Zero(3), 0.1);
  Matrix expected = Matrix::Identity(3, 3);
  Vector path = Vector::Zero(3);
  const double c = 2.0 / 5, rate = 2.0 / 15;
  for (const auto& step : {Vector{{1, 2, 3}}, Vector{{-1, 0.5, 2}}, Vector{{0.1, -3, 1}}}) {
    strategy.learn(member, step);
    path = (1 - c) * path + std::sqrt(c * (2 - c)) * step;
    expected = (1 - rate) * expected + rate * path * path.transpose();
  }
  EXPECT_TRUE((*member.factor * member.factor->transpose()).isApprox(expected, 1e-12));
  EXPECT_TRUE(member.factor->isLowerTriangular());
}

TEST(CovarianceOfAMember, is_of_deviations_alone_where_parameters_are_many) {
  const std::size_t n = Strategy::most_correlated + 1;
  const Strategy strategy(n);
  auto member = strategy.founder(Vector::Zero(static_cast<Eigen::Index>(n)), 0.1);
  Vector step = Vector::Zero(static_cast<Eigen::Index>(n));
  step[0] = 5;
  strategy.learn(member, step);
  EXPECT_EQ(member.factor, nullptr);
  EXPECT_GT((*member.deviations)[0], (*member.deviations)[1]);
}

TEST(FrontOfMembers, keeps_its_ends_and_loses_the_one_with_the_least_room) {
  mocma::Front front(4);
  for (const auto& values : {std::vector<double>{0, 10}, {10, 0}, {5, 5}, {5.5, 4.4}, {2, 7}})
    front.add({.place = Vector::Zero(1), .outcome = of_values(values)});
  std::vector<double> first;
  for (const auto& m : front.members()) first.push_back(m.outcome.value);
  EXPECT_THAT(first, testing::ElementsAre(0, 2, 5.5, 10));
  EXPECT_FALSE(front.add({.place = Vector::Zero(1), .outcome = of_values({6, 6})})) << "dominated";
}

TEST(FrontOfMembers, holds_the_least_violation_until_one_is_feasible) {
  mocma::Front front(4);
  const auto violating = [](double v) {
    auto out = of_values({0, 0});
    out.violation = v;
    return out;
  };
  EXPECT_TRUE(front.add({.place = Vector::Zero(1), .outcome = violating(2)}));
  EXPECT_FALSE(front.add({.place = Vector::Zero(1), .outcome = violating(3)}));
  EXPECT_TRUE(front.add({.place = Vector::Zero(1), .outcome = violating(1)}));
  EXPECT_EQ(front.size(), 1);
  EXPECT_TRUE(front.add({.place = Vector::Zero(1), .outcome = of_values({9, 9})}));
  EXPECT_EQ(front.size(), 1);
  EXPECT_FALSE(front.add({.place = Vector::Zero(1), .outcome = violating(0.1)}));
}

/// Two ellipsoids of condition 1e6 around -1 and 1 along valleys at 45 degrees to the axes; the front's places are
/// known: the line between, since both have the same covariance.
std::vector<double> valleys(const std::vector<double>& x) {
  const auto value = [&](double centre) {
    double sum = 0;
    for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
      const double a = (x[i] - centre + x[i + 1] - centre) / std::sqrt(2), b = (x[i] - x[i + 1]) / std::sqrt(2);
      sum += a * a + 1e6 * b * b;
    }
    return sum;
  };
  return {value(-1), value(1)};
}

/// How far nine places of that front, whose values reach to 16, are from the nearest that a search found.
std::array<double, 9> distances_of_valleys(std::uint64_t seed) {
  const Terms terms{.yield = {false, 2}, .evaluations = 6000};
  const auto optimizer = make_optimizer("mocma", cube(4, -5, 5), seed, {}, terms);
  Front front;
  std::vector<Candidate> batch;
  for (std::size_t told = 0; told < 6000; batch.clear()) {
    optimizer->ask(10, batch);
    for (const auto& c : batch) {
      const auto outcome = of_values(valleys(c.x));
      front.add(c, outcome);
      optimizer->tell(c.id, outcome);
      ++told;
    }
  }
  std::array<double, 9> out;
  out.fill(1e9);
  for (std::size_t k = 0; k < 9; ++k) {  // where f1 = 4 s² * 2, f2 = 4 (1 - s)² * 2
    const double s = static_cast<double>(k + 1) / 10.0, f1 = 16 * s * s, f2 = 16 * (1 - s) * (1 - s);
    for (const auto& m : front.members())
      out[k] = std::min(out[k], std::hypot(m.outcome.values[0] - f1, m.outcome.values[1] - f2));
  }
  return out;
}

TEST(Mocma, follows_a_front_through_narrow_valleys_that_lie_across_the_axes) {
  std::vector<std::array<double, 9>> all;
  for (std::uint64_t seed = 1; seed <= 21; ++seed) all.push_back(distances_of_valleys(seed));
  // With other seeds these medians are 0.4 at most; single searches miss an end of the front by up to 8.
  for (std::size_t k = 0; k < 9; ++k) {
    std::ranges::nth_element(all, all.begin() + 10, {}, [k](const auto& one) { return one[k]; });
    EXPECT_LT(all[10][k], 0.8) << k;
  }
}

/// Both objectives have a minimum in one half; the first has a deeper one elsewhere, of steep sides, so that what lies
/// there is dominated unless it comes near.
double least_of_two_minima(std::uint64_t seed, Mode mode) {
  const auto first = [](const std::vector<double>& x) {
    return std::min(1 + square(x[0] - 2) + square(x[1] - 2), 5 * (square(x[0] + 2.5) + square(x[1] + 2.5)));
  };
  const auto second = [](const std::vector<double>& x) { return square(x[0] - 2) + square(x[1] - 3); };
  const Terms terms{.yield = {false, 2}, .evaluations = 10000, .mode = mode};
  const auto optimizer = make_optimizer("mocma", cube(2, -5, 5), seed, {}, terms);
  std::vector<Candidate> batch;
  double least = 1e300;
  while (optimizer->asked() < 10000) {
    batch.clear();
    optimizer->ask(10, batch);
    for (const auto& c : batch) {
      least = std::min(least, first(c.x));
      optimizer->tell(c.id, of_values({first(c.x), second(c.x)}));
    }
  }
  return least;
}

TEST(Mocma, finds_the_end_of_an_objective_where_the_front_alone_would_stay_in_another_minimum) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const auto mode : {Mode::generational, Mode::asynchronous})
      found += least_of_two_minima(seed, mode) < 0.5 ? 1 : 0;
  }
  EXPECT_GE(found, 7) << "of 20; the front alone comes to it by chance, once";
}

TEST(Mocma, takes_no_notice_of_the_scale_of_an_objective) {
  const Terms terms{.yield = {false, 2}};
  const auto places = [&](double scale) {
    const auto optimizer = make_optimizer("mocma", cube(3, -5, 5), 4, {}, terms);
    std::vector<Candidate> batch, all;
    while (all.size() < 1500) {
      batch.clear();
      optimizer->ask(10, batch);
      for (const auto& c : batch) {
        optimizer->tell(c.id, of_values({sphere(c.x), scale * rosenbrock(c.x)}));
        all.push_back(c);
      }
    }
    return all.back().x;
  };
  EXPECT_EQ(places(1), places(1024));
}
}  // namespace
}  // namespace culmen
