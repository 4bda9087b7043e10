// Asynchronous CMA-ES with results that come late, or early because their evaluations are quick.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "culmen/base/random.hpp"
#include "unit/optimizer/functions.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;

std::vector<Candidate> asked_of(Optimizer& optimizer, std::size_t n) {
  std::vector<Candidate> out;
  EXPECT_EQ(optimizer.ask(n, out), n);
  return out;
}

/// The mean of the candidates that it would propose next.
Point mean_of(Optimizer& optimizer) {
  constexpr std::size_t many = 400;
  Point mean(2, 0.0);
  for (const auto& c : asked_of(optimizer, many))
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += c.x[i] / many;
  return mean;
}

/// Half of ten results are as old as the search, and seem to be far better than the place where it has got to.
double led_away(const std::string& stale, std::uint64_t seed) {
  const auto optimizer = make_optimizer("cmaes", cube(2, -5, 5), seed, {{"population", 10.0}, {"stale", stale}},
                                        {.mode = Mode::asynchronous});
  const Point goal{3, -2};
  const auto far = [&](const Point& x) { return std::hypot(x[0] - goal[0], x[1] - goal[1]); };
  const auto old = asked_of(*optimizer, 5);
  for (int k = 0; k < 100; ++k) {
    const auto c = asked_of(*optimizer, 1).front();
    optimizer->tell(c.id, Outcome::of_value(std::sqrt(far(c.x))));
  }
  const auto young = asked_of(*optimizer, 5);
  for (const auto& c : old) optimizer->tell(c.id, Outcome::of_value(-1));
  for (const auto& c : young) optimizer->tell(c.id, Outcome::of_value(std::sqrt(far(c.x))));
  return far(mean_of(*optimizer));
}

double median_led_away(const std::string& stale) {
  std::vector<double> all;
  for (std::uint64_t seed = 1; seed <= 21; ++seed) all.push_back(led_away(stale, seed));
  std::ranges::sort(all);
  return all[all.size() / 2];
}

TEST(StaleResults, hardly_count_once_the_distribution_has_left_them) {
  EXPECT_LT(median_led_away("weighted"), 0.5);
  const double corrected = median_led_away("corrected");
  EXPECT_LT(corrected, 0.15);
  EXPECT_GT(median_led_away("ignored"), 3 * corrected);
}

/// The third of all candidates that lie lowest comes back first, with values by chance.
double drift(const std::string& stale) {
  constexpr int seeds = 20;
  double sum = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto optimizer = make_optimizer("cmaes", cube(2, -5, 5), seed, {{"population", 20.0}, {"stale", stale}},
                                          {.mode = Mode::asynchronous});
    Random chance(seed, 3);
    auto open = asked_of(*optimizer, 60);
    std::ranges::sort(open, {}, [](const Candidate& c) { return c.x[0]; });
    for (std::size_t k = 0; k < 20; ++k) optimizer->tell(open[k].id, Outcome::of_value(chance.uniform()));
    sum += mean_of(*optimizer)[0];
  }
  return sum / seeds;
}

TEST(QuickResults, do_not_draw_the_search_to_where_evaluations_are_quick) {
  for (const auto* stale : {"corrected", "weighted"}) EXPECT_NEAR(drift(stale), 0, 0.4) << stale;
  EXPECT_LT(drift("ignored"), -0.9);
}
}  // namespace
}  // namespace culmen
