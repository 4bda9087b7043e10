// The measurement of `culmen bench transport`: when it begins and ends, and which evaluations are in the steady state.
#include "program/timed_source.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace culmen {
namespace {

struct SetClock final : Clock {
  double now_s() const override { return at_s; }
  double at_s = 100;
};

Outcome of_value(double value) {
  Outcome outcome;
  outcome.value = value;
  return outcome;
}

std::vector<Candidate> asked_of(TimedSource& source, std::size_t n) {
  std::vector<Candidate> out;
  const auto given = source.ask(n, out);
  EXPECT_EQ(given, out.size());
  return out;
}

/// Two workers in phase: each round of two evaluations ends at the same time.
void work(TimedSource& source, SetClock& clock, int rounds, double round_s) {
  for (int i = 0; i < rounds; ++i) {
    clock.at_s += round_s;
    for (const auto& candidate : asked_of(source, 2)) {
      auto outcome = of_value(candidate.x[0]);
      source.evaluated(outcome);
      source.tell(candidate.id, outcome);
    }
  }
}

TEST(TimedSource, measures_from_when_all_are_there_until_it_is_long_enough) {
  SetClock clock;
  TimedSource source({.mean_s = 0.01, .workers = 2, .at_least_s = 1, .rounds = 3, .parameters = 4}, clock);
  work(source, clock, 5, 0.5);  // with one worker missing
  EXPECT_FALSE(source.finished());
  source.all_are_there();
  work(source, clock, 4, 0.0125);  // enough rounds, but not enough time
  EXPECT_FALSE(source.finished());
  work(source, clock, 100, 0.0125);
  EXPECT_TRUE(source.finished());
  EXPECT_TRUE(asked_of(source, 2).empty());
  const auto steady = source.steady_state();
  EXPECT_EQ(steady.evaluations % 2, 0u);
  EXPECT_NEAR(steady.seconds / static_cast<double>(steady.evaluations), 0.0125 / 2, 1e-9);
  EXPECT_NEAR(steady.durations_s, 0.01 * static_cast<double>(steady.evaluations), 1e-9);
  EXPECT_LE(steady.seconds, 1.0 + 1e-9);
  EXPECT_GE(steady.seconds, 0.9);
  EXPECT_EQ(source.wrong(), 0u);
}

TEST(TimedSource, waits_for_slow_rounds) {
  SetClock clock;
  TimedSource source({.mean_s = 10, .workers = 2, .at_least_s = 1, .rounds = 3, .parameters = 1}, clock);
  source.all_are_there();
  work(source, clock, 3, 10);
  EXPECT_FALSE(source.finished());
  work(source, clock, 1, 10);
  EXPECT_TRUE(source.finished());
  EXPECT_EQ(source.steady_state().evaluations, 4u);
  EXPECT_NEAR(source.steady_state().seconds, 20, 1e-9);
}

TEST(TimedSource, counts_wrong_answers) {
  SetClock clock;
  TimedSource source({.mean_s = 1, .workers = 2, .at_least_s = 1, .rounds = 1, .parameters = 1}, clock);
  const auto candidates = asked_of(source, 3);
  auto other = of_value(2), failed = Outcome::failure(Status::failed, "no");
  source.tell(candidates[0].id, other);
  source.tell(candidates[1].id, failed);
  source.cancel(candidates[2].id);
  EXPECT_EQ(source.wrong(), 3u);
  EXPECT_EQ(source.steady_state().evaluations, 0u);
}

TEST(TimedSource, durations_vary_around_their_mean) {
  SetClock clock;
  TimedSource source({.mean_s = 0.001, .spread = 0.5, .workers = 100, .at_least_s = 1, .parameters = 1}, clock);
  std::vector<double> durations;
  for (const auto& candidate : asked_of(source, 5000)) durations.push_back(candidate.x[0]);
  ASSERT_EQ(durations.size(), 5000u);
  EXPECT_NEAR(std::accumulate(durations.begin(), durations.end(), 0.0) / 5000, 0.001, 0.00005);
  EXPECT_NE(durations[0], durations[1]);
}

TEST(TimedSource, leaves_few_candidates_open) {
  SetClock clock;
  TimedSource source({.mean_s = 0.1, .workers = 2, .at_least_s = 1, .parameters = 1}, clock);
  EXPECT_EQ(asked_of(source, 256).size(), 20u);
  EXPECT_TRUE(asked_of(source, 1).empty());
  EXPECT_FALSE(source.finished());
}

}  // namespace
}  // namespace culmen
