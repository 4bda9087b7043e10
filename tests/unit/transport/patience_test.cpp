#include "culmen/transport/relay/patience.hpp"

#include <gtest/gtest.h>

namespace culmen {
namespace {

constexpr double never_s = std::numeric_limits<double>::infinity();

/// A worker that has just given a result, 400 µs after the last one, and has this many candidates ahead.
Patience after_a_result(int ahead, std::size_t relays_on_way = 1) {
  Patience patience(2, relays_on_way);
  for (int i = 0; i < ahead + 2; ++i) patience.sent(0);
  patience.arrived(0, 1);
  patience.flushed();
  patience.arrived(0, 1.0004);
  return patience;
}

TEST(Patience, ends_at_once_for_a_worker_without_candidates) {
  EXPECT_EQ(Patience(1).until_s(), never_s);
  EXPECT_DOUBLE_EQ(after_a_result(0).until_s(), 1.0004);
}

TEST(Patience, lasts_half_of_the_time_of_the_candidates_that_a_worker_has) {
  EXPECT_DOUBLE_EQ(after_a_result(1).until_s(), 1.0004 + 0.5 * 400e-6);
  EXPECT_DOUBLE_EQ(after_a_result(2).until_s(), 1.0004 + 400e-6);
  EXPECT_DOUBLE_EQ(after_a_result(100).until_s(), 1.0004 + 1e-3) << "at most a millisecond";
}

TEST(Patience, is_shared_by_the_relays_on_the_way) {
  EXPECT_DOUBLE_EQ(after_a_result(1, 2).until_s(), 1.0004 + 0.25 * 400e-6);
  EXPECT_DOUBLE_EQ(after_a_result(100, 2).until_s(), 1.0004 + 0.5e-3);
}

TEST(Patience, is_that_of_the_worker_that_has_the_least) {
  auto patience = after_a_result(2);
  patience.sent(1);
  patience.arrived(1, 1.0005);
  EXPECT_DOUBLE_EQ(patience.until_s(), 1.0005);
  patience.flushed();
  EXPECT_EQ(patience.until_s(), never_s);
  patience.hurry();
  EXPECT_EQ(patience.until_s(), 0);
}

}  // namespace
}  // namespace culmen
