#include "culmen/space/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "culmen/base/random.hpp"
#include "culmen/space/scaling.hpp"
#include "unit/space/messages.hpp"

namespace culmen {
namespace {

using testing::HasSubstr;

Space random_space(Random& random) {
  std::vector<Parameter> parameters;
  const auto n = 1 + random.below(6);
  for (std::uint64_t i = 0; i < n; ++i) {
    const auto name = "p" + std::to_string(i);
    const double lower = std::pow(10, 6 * random.uniform() - 3) * (random.below(2) == 0 ? 1 : -1);
    switch (random.below(3)) {
      case 0:
        parameters.push_back(real(name, lower, lower + std::pow(10, 6 * random.uniform() - 3)));
        break;
      case 1:
        parameters.push_back(
            real(name, std::abs(lower), std::abs(lower) * (1 + 1e4 * random.uniform() + 1e-3), Scale::log));
        break;
      default:
        parameters.push_back(
            integer(name, std::floor(lower), std::floor(lower) + 1 + static_cast<double>(random.below(1000))));
        break;
    }
  }
  return Space(parameters);
}

TEST(Space, round_trip_from_names_to_vector_and_back_is_exact) {
  Random random(1);
  for (int k = 0; k < 500; ++k) {
    const auto space = random_space(random);
    std::vector<double> unit(space.size()), vector(space.size());
    for (auto& u : unit) u = random.uniform();
    space.from_unit(unit, vector);
    auto named = space.named(vector);
    std::reverse(named.begin(), named.end());
    EXPECT_EQ(space.vector_of(named), vector);
  }
}

TEST(Space, every_unit_vector_lies_within_the_bounds_and_integers_are_whole) {
  Random random(2);
  for (int k = 0; k < 500; ++k) {
    const auto space = random_space(random);
    std::vector<double> unit(space.size()), vector(space.size());
    for (auto& u : unit) u = 3 * random.uniform() - 1;
    space.from_unit(unit, vector);
    for (std::size_t i = 0; i < space.size(); ++i) {
      EXPECT_GE(vector[i], space[i].lower);
      EXPECT_LE(vector[i], space[i].upper);
      if (space[i].kind == ParameterKind::integer) {
        EXPECT_EQ(vector[i], std::floor(vector[i]));
      }
    }
  }
}

TEST(Space, unit_vector_round_trip_is_exact_for_integers_and_within_ulps_for_reals) {
  Random random(3);
  for (int k = 0; k < 500; ++k) {
    const auto space = random_space(random);
    std::vector<double> unit(space.size()), vector(space.size()), back(space.size()), again(space.size());
    for (auto& u : unit) u = random.uniform();
    space.from_unit(unit, vector);
    space.to_unit(vector, back);
    space.from_unit(back, again);
    for (std::size_t i = 0; i < space.size(); ++i) {
      const double ulps = space[i].kind == ParameterKind::integer ? 0 : 1e-13;
      EXPECT_NEAR(again[i], vector[i], ulps * std::max(std::abs(space[i].lower), std::abs(space[i].upper)));
    }
  }
}

TEST(Space, the_cell_of_what_is_discrete_holds_what_becomes_the_same) {
  for (const auto& p : {integer("a", -3, 5), integer("b", 1, 40, Scale::log), boolean("c")}) {
    for (double u = 1.0 / 512; u < 1; u += 1.0 / 256) {
      const Cell cell = cell_of(p, u);
      EXPECT_TRUE(cell.holds(u)) << p.name << " " << u;
      EXPECT_EQ(from_unit(p, cell.middle()), from_unit(p, u));
      EXPECT_EQ(from_unit(p, cell.lower + 1e-9), from_unit(p, u));
      EXPECT_EQ(from_unit(p, cell.upper - 1e-9), from_unit(p, u));
      EXPECT_EQ(cell.first(), from_unit(p, u) == p.lower);
      EXPECT_EQ(cell.last(), from_unit(p, u) == p.upper);
    }
  }
}

TEST(Space, bounds_of_reals_are_reached_exactly) {
  const Space space{real("a", 0.1, 0.7), real("b", 1e-5, 3e4, Scale::log), integer("c", -3, 5)};
  std::vector<double> vector(3);
  space.from_unit(std::vector<double>{0, 0, 0}, vector);
  EXPECT_EQ(vector, (std::vector<double>{0.1, 1e-5, -3}));
  space.from_unit(std::vector<double>{1, 1, 1}, vector);
  EXPECT_EQ(vector, (std::vector<double>{0.7, 3e4, 5}));
  EXPECT_TRUE(space.at_bound(0, 0.7));
  EXPECT_TRUE(space.at_bound(1, 1e-5));
  EXPECT_FALSE(space.at_bound(1, 1e-4));
}

TEST(Space, survives_encoding) {
  Random random(4);
  for (int k = 0; k < 50; ++k) {
    const auto space = random_space(random);
    Bytes bytes;
    ByteWriter writer(bytes);
    space.encode(writer);
    ByteReader reader(bytes);
    EXPECT_EQ(Space::decode(reader), space);
  }
}

TEST(Space, refuses_wrong_parameters_in_one_sentence_that_names_them) {
  EXPECT_THAT(message_of({}), HasSubstr("no parameter"));
  EXPECT_THAT(message_of({real("a", 2, 1)}), HasSubstr("'a': lower bound 2 must be below upper bound 1"));
  EXPECT_THAT(message_of({real("a", 1, 1)}), HasSubstr("must be below"));
  EXPECT_THAT(message_of({real("a", 0, 1, Scale::log)}), HasSubstr("log scale needs a lower bound above 0"));
  EXPECT_THAT(message_of({real("a", 0, INFINITY)}), HasSubstr("needs an initial value"));
  EXPECT_THAT(message_of({real("a", NAN, 1)}), HasSubstr("finite"));
  EXPECT_THAT(message_of({integer("n", 0.5, 3)}), HasSubstr("whole numbers"));
  EXPECT_THAT(message_of({real("a", 0, 1), real("a", 0, 2)}), HasSubstr("there are two parameters 'a'"));
  EXPECT_THAT(message_of({real("", 0, 1)}), HasSubstr("empty name"));
}

TEST(Space, refuses_wrong_values_in_one_sentence_that_names_them) {
  const Space space{real("a", 0, 1), integer("n", 1, 5)};
  EXPECT_THAT(message_at(space, {{"a", 0.5}}), HasSubstr("'n' is missing"));
  EXPECT_THAT(message_at(space, {{"a", 0.5}, {"b", 1.0}}), HasSubstr("no parameter 'b'"));
  EXPECT_THAT(message_at(space, {{"a", 0.5}, {"a", 1.0}}), HasSubstr("given twice"));
  EXPECT_THAT(message_at(space, {{"a", 1.5}, {"n", 1.0}}), HasSubstr("outside [0, 1]"));
  EXPECT_THAT(message_at(space, {{"a", NAN}, {"n", 1.0}}), HasSubstr("outside"));
  EXPECT_THAT(message_at(space, {{"a", 0.5}, {"n", 1.5}}), HasSubstr("not a whole number"));
  EXPECT_EQ(message_at(space, {{"n", 2.0}, {"a", 0.5}}), "accepted");
}

}  // namespace
}  // namespace culmen
