// Races without generations: what takes long is not left out for it.
#include <gtest/gtest.h>

#include <cmath>

#include "unit/optimizer/clock.hpp"

namespace culmen {
namespace {
using Draw = std::function<double(std::size_t method, Random& dice)>;

Space methods(std::size_t n) {
  decltype(Parameter::choices) names;
  for (std::size_t k = 0; k < n; ++k) names.emplace_back("method" + std::to_string(k));
  return Space{categorical("method", names)};
}

/// The value is the duration. The k-th evaluation of a method draws the same whoever does it, and when.
class RunTimes {
 public:
  RunTimes(std::size_t methods, std::uint64_t seed, Draw draw) : draw_(std::move(draw)) {
    for (std::size_t k = 0; k < methods; ++k) dice_.emplace_back(seed, 100 + k);
  }
  Timed operator()(const Candidate& c) {
    const auto method = static_cast<std::size_t>(c.x[0]);
    const double seconds = draw_(method, dice_[method]);
    return {seconds, seconds};
  }

 private:
  Draw draw_;
  std::vector<Random> dice_;
};

struct Won {
  std::size_t best = 0;  // races that the first method won
  double share = 0;      // of the reported mean by the true one, on the average over races
};

/// One worker: in generations.
Won won(std::size_t in_all, const Draw& draw, const std::function<double(std::size_t)>& mean, std::size_t workers) {
  constexpr std::uint64_t races = 60;
  Won out;
  for (std::uint64_t seed = 1; seed <= races; ++seed) {
    const auto race = make_optimizer("racing", methods(in_all), seed, {}, {.mode = mode_if(workers == 1)});
    run_on_clock(
        *race, workers, RunTimes(in_all, seed, draw), [](double) { return false; }, 1e9);
    EXPECT_TRUE(race->finished());
    const auto recommended = race->recommendation();
    if (!recommended) continue;
    const auto method = static_cast<std::size_t>(recommended->x[0]);
    out.best += method == 0 ? 1 : 0;
    out.share += recommended->value / mean(method) / races;
  }
  return out;
}

/// Quick now and then, slow as a rule; the first is always nearly as quick.
double two_fold(std::size_t method, Random& dice) {
  const double factor = 1 + 0.01 * dice.uniform(), luck = dice.uniform();
  return factor * (method == 0 ? 1 : luck < 0.35 ? 0.9 : 5);
}
double mean_of_two_fold(std::size_t method) { return 1.005 * (method == 0 ? 1 : 0.35 * 0.9 + 0.65 * 5); }

double spread(std::size_t method, Random& dice) {
  return method == 0 ? std::exp(0.2 * dice.normal()) : 1.15 * std::exp(dice.normal());
}
double mean_of_spread(std::size_t method) { return method == 0 ? std::exp(0.02) : 1.15 * std::exp(0.5); }

double step(std::size_t method) { return 1 + 0.1 * static_cast<double>(method); }
double alike(std::size_t method, Random& dice) { return step(method) * std::exp(0.5 * dice.normal()); }
double mean_of_alike(std::size_t method) { return step(method) * std::exp(0.125); }

struct Case {
  std::string name;
  std::size_t methods;
  Draw draw;
  std::function<double(std::size_t)> mean;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class RacingOnTime : public testing::TestWithParam<Case> {};

TEST_P(RacingOnTime, chooses_and_reports_as_in_generations) {
  const auto& [name, in_all, draw, mean] = GetParam();
  const auto generations = won(in_all, draw, mean, 1);
  for (const std::size_t workers : {8, 40, 128, 400}) {
    const auto found = won(in_all, draw, mean, workers);
    EXPECT_NEAR(static_cast<double>(found.best), static_cast<double>(generations.best), 3) << workers;
    // In one set of twenty, one race ends otherwise, which changes this mean by about 0.02.
    EXPECT_NEAR(found.share, generations.share, 0.06) << workers;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RacingOnTime,
                         testing::Values(Case{"two", 2, two_fold, mean_of_two_fold},
                                         Case{"sixteen", 16, two_fold, mean_of_two_fold},
                                         Case{"spread", 2, spread, mean_of_spread},
                                         Case{"alike", 8, alike, mean_of_alike}),
                         [](const auto& info) { return info.param.name; });

/// At any time of a race what is reported is of complete rounds, not of whatever came first.
TEST(Racing, reports_no_more_than_rounds_that_all_have) {
  const auto race = make_optimizer("racing", methods(2), 1, {}, {.mode = Mode::asynchronous});
  std::vector<Candidate> batch;
  race->ask(40, batch);
  std::vector<std::size_t> told(2);
  for (const auto& c : batch) {
    const auto method = static_cast<std::size_t>(c.x[0]);
    if (told[method] == (method == 0 ? 20U : 3U)) continue;
    ++told[method];
    race->tell(c.id, Outcome::of_value(method == 0 ? static_cast<double>(told[0]) : 100));
  }
  ASSERT_TRUE(race->recommendation());
  EXPECT_EQ(race->recommendation()->evaluations, 3U);
  EXPECT_EQ(race->recommendation()->value, 2);
}

/// Of many, one that is the quickest in a third of its evaluations and five hundred times slower in the others.
TEST(Racing, does_not_repeat_what_is_slow_until_it_is_quick) {
  const auto mostly_stuck = [](std::size_t method, Random& dice) {
    const double luck = dice.uniform();
    return method > 0 ? 1 + 0.1 * luck : luck < 0.35 ? 0.95 : 500;
  };
  constexpr std::uint64_t races = 20;
  for (const std::size_t workers : {64, 256}) {
    std::size_t stuck = 0;
    for (std::uint64_t seed = 1; seed <= races; ++seed) {
      const auto race = make_optimizer("racing", methods(64), seed, {}, {.mode = Mode::asynchronous});
      run_on_clock(
          *race, workers, RunTimes(64, seed, mostly_stuck), [](double) { return false; }, 1e9);
      ASSERT_TRUE(race->recommendation());
      stuck += race->recommendation()->x[0] == 0 ? 1 : 0;
    }
    EXPECT_LE(stuck, races / 4) << workers;
  }
}

/// A few of the first never come, among many workers whose other evaluations do.
TEST(Racing, goes_on_with_many_workers_where_some_never_come) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto race = make_optimizer("racing", methods(16), seed, {}, {.mode = Mode::asynchronous});
    RunTimes times(16, seed, alike);
    const auto measure = [&](const Candidate& c) { return c.id % 25 == 3 && c.id < 200 ? Timed{-1, 1e6} : times(c); };
    EXPECT_LT(run_on_clock(
                  *race, 64, measure, [](double) { return false; }, 1e9),
              100);
    EXPECT_TRUE(race->finished());
    EXPECT_NE(race->recommendation()->value, -1);
  }
}
}  // namespace
}  // namespace culmen
