#include "culmen/transport/network/backoff.hpp"

#include <gtest/gtest.h>

#include <set>

namespace culmen {
namespace {

TEST(Backoff, pauses_grow_up_to_a_limit) {
  std::minstd_rand random;
  Backoff backoff;
  for (double mean_s = Backoff::first_s; mean_s < 1000; mean_s *= 2) {
    const auto pause_s = backoff.next_s(random), expected_s = std::min(mean_s, Backoff::longest_s);
    EXPECT_GE(pause_s, 0.5 * expected_s);
    EXPECT_LE(pause_s, 1.5 * expected_s);
  }
  backoff.restart();
  EXPECT_LE(backoff.next_s(random), 1.5 * Backoff::first_s);
}

TEST(Backoff, workers_that_lost_their_master_together_come_back_at_different_times) {
  std::set<int> hundredths;
  for (unsigned worker = 1; worker <= 1000; ++worker) {
    std::minstd_rand random(worker * 7919);
    hundredths.insert(static_cast<int>(100 * Backoff().next_s(random) / Backoff::first_s));
  }
  EXPECT_GT(hundredths.size(), 90U);
}

}  // namespace
}  // namespace culmen
