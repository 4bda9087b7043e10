// Where local searches begin: the rule of multi-level single linkage.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "culmen/optimizer/methods/local/samples.hpp"
#include "unit/optimizer/functions.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen::local {
namespace {
using Vector = Eigen::VectorXd;

TEST(Samples, no_search_begins_beside_a_minimum_that_is_known_unless_nothing_else_is_left) {
  Samples samples(2, 1);
  const Vector minimum{{0.5, 0.5}}, beside{{0.52, 0.5}}, elsewhere{{0.1, 0.1}};
  for (int k = 0; k < 50; ++k) samples.add(samples.fresh(), std::numeric_limits<double>::infinity());
  samples.add_minimum(minimum, 0);
  samples.add(beside, 1);
  samples.add(elsewhere, 2);
  const auto point = [](const Vector& x) { return std::vector<double>(x.begin(), x.end()); };
  const auto taken = [&](bool anyway) {
    const auto sample = samples.take(anyway);
    return sample ? point(sample->x) : std::vector<double>();
  };
  EXPECT_EQ(taken(false), point(elsewhere));
  EXPECT_TRUE(taken(false).empty());
  EXPECT_EQ(taken(true), point(beside));
  EXPECT_TRUE(taken(true).empty());
}

/// A wide basin takes nearly every descent unless those that would end in its minimum again are left out.
TEST(Descents, look_elsewhere_once_they_know_a_minimum) {
  const auto two_basins = [](const std::vector<double>& x) {
    const double wide = square(x[0] - 1) + square(x[1] - 1), narrow = square(x[0] + 3) + square(x[1] + 3);
    return std::min(0.1 * wide, narrow / square(0.6) - 0.5);
  };
  const auto median = [&](const char* name) {
    return median_evaluations({name, cube(2, -5, 5), two_basins, -0.49, 5000}, 31);
  };
  // 12 sets of other seeds: 72 to 127 and 280 to 549. Descents from all the best samples: 241 or more, 1309 or more.
  EXPECT_LE(median("bobyqa"), 185U);
  EXPECT_LE(median("nelder_mead"), 850U);
}
}  // namespace
}  // namespace culmen::local
