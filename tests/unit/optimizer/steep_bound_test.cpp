// Quasi-Newton descents where the values rise steeply towards a distant bound.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "culmen/optimizer/methods/local/line.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
struct Fall {
  const char* name;
  double lower, upper;
  std::function<double(double)> value;
  double minimum;  // the place
};

/// Each has a slope that gets steeper on the way from the middle, then a minimum, and a wall at the lower bound.
const std::vector<Fall> falls{
    {"lifetime", 0.1, 20, [](double x) { return 40 * std::log(x) + 92.6 / x; }, 2.315},
    {"lifetime in wide bounds", 0.01, 1000, [](double x) { return 40 * std::log(x) + 92.6 / x; }, 2.315},
    {"width of a normal distribution", 0.05, 50, [](double x) { return 30 * std::log(x) + 55 / (2 * x * x); },
     std::sqrt(55.0 / 30)},
    {"Lennard-Jones", 0.7, 10, [](double x) { return 4 * (std::pow(x, -12) - std::pow(x, -6)); }, std::pow(2, 1.0 / 6)},
};

struct Found {
  double best = std::numeric_limits<double>::infinity();
  int at_bound = 0;
};

Found found_in(const Fall& fall, const std::string& name, double start, int evaluations) {
  auto x = real("x", fall.lower, fall.upper);
  x.initial = fall.lower + start * (fall.upper - fall.lower);
  const auto optimizer = make_optimizer(name, Space{x}, 1);
  Found found;
  std::vector<Candidate> batch;
  for (int told = 0; told < evaluations; ++told) {
    optimizer->ask(1, batch = {});
    const double at = batch.at(0).x[0], value = fall.value(at);
    found.best = std::min(found.best, value);
    found.at_bound += at < fall.lower + 1e-6 * (fall.upper - fall.lower);
    optimizer->tell(batch[0].id, Outcome::of_value(value));
  }
  return found;
}

// Most need 15 to 40 evaluations. Bisection of the range needs about 20 steps of three evaluations to come so near.
TEST(Descents, soon_find_a_minimum_near_a_steep_bound) {
  for (const auto& fall : falls) {
    for (const double start : {0.2, 0.35, 0.5, 0.8, 0.95}) {
      for (const char* name : {"bfgs", "auto"}) {
        const auto found = found_in(fall, name, start, 60);
        const double most =
            1e-3 * (fall.value(fall.lower + start * (fall.upper - fall.lower)) - fall.value(fall.minimum));
        EXPECT_LE(found.best, fall.value(fall.minimum) + most) << fall.name << " " << start << " " << name;
        EXPECT_LE(found.at_bound, 6) << fall.name << " " << start << " " << name;
      }
    }
  }
}

TEST(Line, goes_on_in_moderate_steps_where_values_fall_in_front_of_a_wall) {
  const auto value = [](double step) { return step > 0.9 ? 1e6 : -step * step - step; };
  local::Line line(0, -1, 1, {.worth = 0.3, .guarded = true});
  line.digest({value(1)});
  for (double before = 0; !line.over(); before = line.best()) {
    const double step = line.steps().at(0);
    EXPECT_GT(step, before);
    EXPECT_LE(step, (1 + before) / 2);
    line.digest({value(step)});
  }
  EXPECT_GT(line.best(), 0.5);
  EXPECT_EQ(line.too_long(), 1);
}

// Studies of those editions are in stores. The values are those of earlier versions, but for the libm's roundings.
TEST(Editions, before_the_fourth_keep_the_candidates_of_bfgs) {
  for (const auto edition : {Edition::first, Edition::third}) {
    const auto optimizer = make_optimizer("bfgs", Space{real("x", 0.1, 20)}, 1, {}, {.edition = edition});
    std::vector<double> asked;
    std::vector<Candidate> batch;
    while (asked.size() < 31) {
      optimizer->ask(1, batch = {});
      const double x = asked.emplace_back(batch.at(0).x[0]);
      optimizer->tell(batch[0].id, Outcome::of_value(40 * std::sqrt(x) + 9 / x));
    }
    EXPECT_NEAR(asked[3], 0.1, 1e-6);
    EXPECT_NEAR(asked[8], 4.9737422589356255, 1e-6);
    EXPECT_NEAR(asked[12], 0.1, 1e-6);
    EXPECT_NEAR(asked[20], 0.7594521635141405, 1e-6);
    EXPECT_NEAR(asked[30], 0.5872301565798614, 1e-4);
  }
}
}  // namespace
}  // namespace culmen
