#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "culmen/space/space.hpp"
#include "unit/space/messages.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr double inf = std::numeric_limits<double>::infinity();

Parameter from(Parameter p, double initial) {
  p.initial = initial;
  return p;
}

Space unbounded() {
  return Space({from(real("a", -inf, inf), 4), from(real("b", 1, inf), 3), from(real("c", -inf, 1), -1),
                from(real("zero", -inf, inf), 0), real("d", 0, 1)});
}

std::vector<double> at(double u) {
  std::vector<double> x(5, u);
  unbounded().from_unit(x, x);
  return x;
}

TEST(OpenSpace, half_of_all_places_lie_within_its_size_of_the_initial_value) {
  EXPECT_THAT(at(0.5), ElementsAre(4, 3, -1, 0, 0.5));
  const auto low = at(0.25), high = at(0.75);
  EXPECT_NEAR(low[0], 0, 1e-12);
  EXPECT_NEAR(high[0], 8, 1e-12);
  EXPECT_NEAR(high[1], 7, 1e-12);
  EXPECT_NEAR(low[2], -5, 1e-12);
  EXPECT_NEAR(high[3], 1, 1e-12);
}

TEST(OpenSpace, every_place_is_finite_and_in_order) {
  auto before = at(0);
  EXPECT_EQ(before[1], 1);
  for (int k = 1; k <= 1000; ++k) {
    const auto x = at(k / 1000.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_TRUE(std::isfinite(x[i]));
      EXPECT_LT(before[i], x[i]) << i << " at " << k;
    }
    before = x;
  }
  EXPECT_EQ(before[2], 1);
  EXPECT_LT(before[0], 1e9);
}

TEST(OpenSpace, places_read_back) {
  for (const double u : {1e-6, 0.1, 0.4, 0.6, 0.999}) {
    std::vector<double> back(5);
    unbounded().to_unit(at(u), back);
    for (const double place : back) EXPECT_NEAR(place, u, 1e-9 * u);
  }
}

TEST(OpenSpace, only_a_bound_can_be_reached) {
  const auto space = unbounded();
  EXPECT_FALSE(space.at_bound(0, 1e12));
  EXPECT_FALSE(space.at_bound(0, -1e12));
  EXPECT_TRUE(space.at_bound(1, 1));
  EXPECT_FALSE(space.at_bound(1, 1e12));
  EXPECT_TRUE(space.at_bound(2, 1));
}

TEST(OpenSpace, survives_encoding) {
  Bytes bytes;
  ByteWriter writer(bytes);
  unbounded().encode(writer);
  ByteReader reader(bytes);
  EXPECT_EQ(Space::decode(reader), unbounded());
}

TEST(OpenSpace, refuses_what_has_no_beginning) {
  EXPECT_THAT(message_of({real("x", 0, inf)}), HasSubstr("it has no upper bound, so it needs an initial value"));
  EXPECT_THAT(message_of({from(real("x", -inf, 0), 1)}), HasSubstr("its initial value 1 is outside"));
  EXPECT_THAT(message_of({from(integer("x", 0, inf), 1)}), HasSubstr("only real parameters can do without"));
  EXPECT_THAT(message_of({from(real("x", 1, inf, Scale::log), 2)}), HasSubstr("a log scale needs both bounds"));
  EXPECT_THAT(message_of({from(real("x", inf, inf), 1)}), HasSubstr("must be finite"));
}

}  // namespace
}  // namespace culmen
