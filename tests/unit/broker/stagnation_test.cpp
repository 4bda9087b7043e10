#include "culmen/broker/stagnation.hpp"

#include <gtest/gtest.h>

namespace culmen {
namespace {

TEST(Stagnation, is_the_same_whatever_is_added_to_the_objective_or_scales_it) {
  const auto since = [](double scale, double shift) {
    Stagnation stagnation(1e-3);
    for (const double v : {8.0, 6.0, 6.5, 2.0, 1.999, 1.9985, 1.998, 3.0}) stagnation.see(true, scale * v + shift);
    stagnation.see(false, 0);
    return stagnation.since();
  };
  EXPECT_EQ(since(1, 0), 5U);
  EXPECT_EQ(since(1024, 0), since(1, 0));
  EXPECT_EQ(since(1, 65536), since(1, 0));
}

TEST(Stagnation, small_steps_that_add_up_are_an_improvement) {
  Stagnation stagnation(0.01);
  for (int k = 0; k < 400; ++k) stagnation.see(true, 1000.0 - k);
  EXPECT_LT(stagnation.since(), 8U);
}

}  // namespace
}  // namespace culmen
