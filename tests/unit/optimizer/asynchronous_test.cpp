// Population methods without generations, on a virtual clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <queue>
#include <tuple>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/founders.hpp"
#include "culmen/optimizer/parts/round_robin.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;
using Duration = std::function<double(const Point&, Random&)>;
double square(double x) { return x * x; }

TEST(RoundRobin, go_to_one_after_the_other_of_those_alive) {
  RoundRobin turns;
  const auto odd = [](std::size_t place) { return place % 2 == 1; };
  EXPECT_EQ(turns.take(6, odd), 1U);
  EXPECT_EQ(turns.take(6, odd), 3U);
  EXPECT_EQ(turns.take(6, odd), 5U);
  EXPECT_EQ(turns.take(8, odd), 7U) << "places may come";
  EXPECT_EQ(turns.take(8, odd), 1U);
}

TEST(Founders, settle_when_three_quarters_are_back_or_too_much_else_is) {
  Founders patient(4), tired(4);
  patient.grow(8);
  for (int k = 0; k < 8; ++k) EXPECT_TRUE(patient.enlist());
  EXPECT_FALSE(patient.enlist());
  for (int k = 0; k < 6; ++k) {
    EXPECT_FALSE(patient.settled());
    patient.returned(true);
    patient.returned(false);
  }
  EXPECT_TRUE(patient.settled());
  patient.grow(100);
  EXPECT_TRUE(patient.settled());
  for (int k = 0; k < 16; ++k) {
    EXPECT_FALSE(tired.settled());
    tired.returned(false);
  }
  EXPECT_TRUE(tired.settled());
}

/// `workers` at once, each for as long as `duration` says, one result in ten failed, late for good or cancelled where
/// `faulty`; the evaluations until the target was reached.
struct Clock {
  std::string optimizer;
  Space space;
  TestFunction objective;
  double target;
  std::size_t workers = 20, budget = 50000;
  Duration duration = [](const Point&, Random&) { return 1.0; };
  bool faulty = false;

  std::size_t evaluations(std::uint64_t seed, std::vector<Point>* points = nullptr) const {
    const auto search = make_optimizer(optimizer, space, seed, {}, {{}, budget, Mode::asynchronous});
    EXPECT_FALSE(search->generational());
    search->resize(workers);
    Random random(seed + 1000);
    std::priority_queue<std::tuple<double, EvaluationId>, std::vector<std::tuple<double, EvaluationId>>, std::greater<>>
        running;
    std::vector<Point> at;
    std::vector<Candidate> batch;
    double now = 0;
    for (std::size_t told = 0; told < budget;) {
      batch.clear();
      EXPECT_EQ(search->ask(workers - running.size(), batch), workers - running.size());
      for (auto& c : batch) {
        running.emplace(now + duration(c.x, random), c.id);
        at.push_back(std::move(c.x));
      }
      const auto [end, id] = running.top();
      running.pop();
      now = end;
      if (++told == budget) break;
      if (points != nullptr) points->push_back(at[id]);
      const auto fault = faulty ? random.below(10) : 9;
      if (fault == 0) search->cancel(id);
      else if (fault == 1) search->tell(id, Outcome::failure(Status::crashed, ""));
      else if (fault == 2) running.emplace(now + 20 * random.uniform(), id);
      else {
        const double value = objective(at[id]);
        if (value <= target) return told;
        search->tell(id, Outcome::of_value(value));
      }
    }
    return budget;
  }
};

double sphere(const Point& x) {
  double f = 0;
  for (std::size_t i = 0; i < x.size(); ++i) f += square(x[i] - 3 * std::sin(static_cast<double>(i) + 1));
  return f;
}

double log_normal(const Point&, Random& random) { return std::exp(random.normal()); }

class Asynchronous : public testing::TestWithParam<const char*> {};
class QuickAsynchronous : public Asynchronous {};

TEST_P(QuickAsynchronous, finds_a_minimum_whatever_the_durations) {
  for (const std::size_t workers : {1, 20, 200}) {
    const std::size_t limit = 8000 + 60 * workers;
    EXPECT_LT((Clock{GetParam(), cube(5, -5, 5), sphere, 1e-6, workers}.evaluations(1)), limit);
    EXPECT_LT((Clock{GetParam(), cube(5, -5, 5), sphere, 1e-6, workers, 50000, log_normal}.evaluations(1)), limit);
  }
}

TEST_P(Asynchronous, lives_with_failed_cancelled_and_late_results) {
  EXPECT_LT((Clock{GetParam(), cube(5, -5, 5), sphere, 1e-6, 20, 50000, log_normal, true}.evaluations(1)), 15000U);
}

TEST_P(Asynchronous, gives_the_same_candidates_for_the_same_calls) {
  const Clock clock{GetParam(), cube(5, -5, 5), sphere, 0, 7, 2000, log_normal, true};
  std::vector<Point> first, second, other;
  clock.evaluations(1, &first);
  clock.evaluations(1, &second);
  clock.evaluations(2, &other);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

/// Two basins: the deeper one where evaluations take ten times as long, 0 against 0.02 at the bottom.
double two_basins(const Point& x) {
  double slow = 0, quick = 0.02;
  for (const double v : x) {
    slow += square(v - 0.8);
    quick += square(v - 0.2);
  }
  return std::min(slow, quick);
}

TEST_P(QuickAsynchronous, finds_the_optimum_where_evaluations_are_slow) {
  const auto slow_half = [](const Point& x, Random&) { return x[0] > 0.5 ? 10.0 : 1.0; };
  for (const std::size_t workers : {20, 100}) {
    int found = 0;
    std::vector<std::size_t> slow, equal;
    for (std::uint64_t seed = 1; seed <= 11; ++seed) {
      Clock clock{GetParam(), cube(4, 0, 1), two_basins, 1e-4, workers, 20000, slow_half};
      slow.push_back(clock.evaluations(seed));
      found += slow.back() < clock.budget ? 1 : 0;
      clock.duration = [](const Point&, Random&) { return 1.0; };
      equal.push_back(clock.evaluations(seed));
    }
    std::ranges::sort(slow);
    std::ranges::sort(equal);
    // With 36 sets of other seeds, at least 10 found it. With 100 workers, the ratio of the medians was from 1.0
    // to 1.7. With 20 workers it was up to 14: some searches stay in the quick basin for long.
    EXPECT_GE(found, 7) << workers << " workers";
    if (workers == 100) {
      EXPECT_LT(slow[5], 5 * equal[5]) << "medians";
    }
  }
}

TEST_P(Asynchronous, shifts_and_factors_of_the_objective_change_nothing) {
  // Powers of two and values with few bits keep the arithmetic exact.
  const auto f = [](const Point& x) { return std::round(1024 * sphere(x)); };
  const auto g = [&](const Point& x) { return 4 * (f(x) + 65536); };
  std::vector<Point> first, second;
  Clock{GetParam(), cube(3, -5, 5), f, -1, 7, 3000, log_normal}.evaluations(1, &first);
  Clock{GetParam(), cube(3, -5, 5), g, -1, 7, 3000, log_normal}.evaluations(1, &second);
  EXPECT_EQ(first, second);
}

TEST(AsynchronousAnnealing, finds_the_optimum_where_evaluations_are_slow_as_well_as_elsewhere) {
  const auto found = [](const Duration& duration) {
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 11; ++seed) {
      const Clock clock{"annealing", cube(4, 0, 1), two_basins, 1e-4, 20, 20000, duration};
      count += clock.evaluations(seed) < clock.budget ? 1 : 0;
    }
    return count;
  };
  // With other seeds, 70 % and 80 % of the searches find it: two or fewer of eleven in less than
  // one set of a thousand.
  EXPECT_GE(found([](const Point& x, Random&) { return x[0] > 0.5 ? 10.0 : 1.0; }), 3);
  EXPECT_GE(found([](const Point&, Random&) { return 1.0; }), 3);
}

INSTANTIATE_TEST_SUITE_P(PopulationMethods, Asynchronous, testing::Values("annealing", "de", "evolution", "swarm"),
                         [](const auto& info) { return std::string(info.param); });
INSTANTIATE_TEST_SUITE_P(PopulationMethods, QuickAsynchronous, testing::Values("de", "evolution", "swarm"),
                         [](const auto& info) { return std::string(info.param); });
}  // namespace
}  // namespace culmen
