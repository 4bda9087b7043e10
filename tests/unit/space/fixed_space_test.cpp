#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "culmen/space/space.hpp"
#include "unit/space/messages.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Parameter under(Parameter p, const char* condition) {
  p.active_when = condition;
  return p;
}

std::vector<std::string> names_in(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const auto& p : parameters) out.push_back(p.name);
  return out;
}

std::vector<std::string> said(const std::vector<Space::Named>& values) {
  std::vector<std::string> out;
  for (const auto& [name, value] : values) out.push_back(name + "=" + to_string(value));
  return out;
}

/// Everything that is not fixed stands between fixed ones.
Space mixed() {
  return Space({fixed_at(integer("n", 1, 9), std::int64_t{5}), real("x", 0, 1),
                fixed_at(categorical("method", {"ring", "tree"}), std::string("tree")), real("y", 0, 10),
                fixed_at(boolean("fast"), true)},
               {{"sum", "x + n <= 5.5"}});
}

TEST(FixedSpace, vectors_have_no_fixed_parameters) {
  const auto space = mixed();
  EXPECT_EQ(space.size(), 2u);
  EXPECT_THAT(names_in(space.parameters()), ElementsAre("x", "y"));
  EXPECT_THAT(names_in(space.all()), ElementsAre("n", "x", "method", "y", "fast"));
  EXPECT_THAT(space.start(), ElementsAre(0.5, 5));
  std::vector<double> x{0.25, 0.5};
  space.from_unit(x, x);
  EXPECT_THAT(x, ElementsAre(0.25, 5));
  EXPECT_EQ(space.place(1), 3u);
}

TEST(FixedSpace, names_and_whole_vectors_have_fixed_parameters) {
  const auto space = mixed();
  const std::vector<double> x{0.25, 7};
  EXPECT_THAT(said(space.named(x)), ElementsAre("n=5", "x=0.25", "method=tree", "y=7", "fast=true"));
  EXPECT_THAT(space.spread(x), ElementsAre(5, 0.25, 1, 7, 1));
  EXPECT_EQ(space.searched(space.spread(x)), x);
  EXPECT_EQ(space.vector_of(space.named(x)), x);
  EXPECT_EQ(space.vector_of(std::vector<Space::Named>{{"y", 7.0}, {"x", 0.25}}), x);
  EXPECT_EQ(space.whole().size(), 5u);
  EXPECT_EQ(said(space.whole().named(space.spread(x))), said(space.named(x)));
}

TEST(FixedSpace, constraints_use_the_fixed_values) {
  const auto space = mixed();
  EXPECT_EQ(space.violation(std::vector<double>{0.5, 7}), 0);
  EXPECT_DOUBLE_EQ(space.violation(std::vector<double>{0.75, 7}), 0.25);
  std::vector<double> slacks;
  space.slacks(std::vector<double>{0.75, 7}, slacks);
  EXPECT_THAT(slacks, ElementsAre(0.25));
}

TEST(FixedSpace, a_condition_on_fixed_parameters_alone_is_decided) {
  const auto space = Space({fixed_at(categorical("method", {"ring", "tree"}), std::string("tree")),
                            under(real("a", 0, 1), "method == 'tree'"), under(real("b", 0, 1), "method == 'ring'"),
                            under(real("c", 0, 1), "b > 0.5"), real("x", 0, 1)});
  EXPECT_THAT(names_in(space.parameters()), ElementsAre("a", "x"));
  EXPECT_FALSE(space.conditional());
  EXPECT_TRUE(space[0].is_plain_real());
  EXPECT_THAT(said(space.named(std::vector<double>{0.25, 0.5})), ElementsAre("method=tree", "a=0.25", "x=0.5"));
}

TEST(FixedSpace, a_fixed_parameter_may_be_inactive) {
  const auto space = Space({under(fixed_at(integer("n", 1, 9), std::int64_t{5}), "x > 0.5"), real("x", 0, 1),
                            under(real("y", 0, 1), "n == 5")},
                           {{"sum", "n + x <= 5.75"}});
  EXPECT_TRUE(space.conditional());
  EXPECT_THAT(said(space.named(std::vector<double>{0.25, 0.1})), ElementsAre("x=0.25"));
  EXPECT_THAT(said(space.named(std::vector<double>{0.75, 0.1})), ElementsAre("n=5", "x=0.75", "y=0.1"));
  EXPECT_EQ(space.violation(std::vector<double>{0.25, 0}), 0);
  EXPECT_DOUBLE_EQ(space.violation(std::vector<double>{1, 0}), 0.25);
  auto whole = space.spread(std::vector<double>{0.25, 0.1});
  space.whole().put_inactive(whole, std::nan(""));
  EXPECT_TRUE(std::isnan(whole[0]) && std::isnan(whole[2]));
}

TEST(FixedSpace, survives_encoding) {
  Bytes bytes;
  ByteWriter writer(bytes);
  mixed().encode(writer);
  ByteReader reader(bytes);
  const auto read = Space::decode(reader);
  EXPECT_EQ(read, mixed());
  EXPECT_EQ(read.size(), 2u);
}

TEST(FixedSpace, needs_no_bounds_and_a_single_choice_is_enough) {
  const auto space = Space(
      {fixed_at(real("a", 3, 3), 3.0), fixed_at(categorical("b", {"ring"}), std::string("ring")), real("x", 0, 1)});
  EXPECT_THAT(said(space.named(std::vector<double>{0.5})), ElementsAre("a=3", "b=ring", "x=0.5"));
}

TEST(FixedSpace, refuses_what_cannot_be) {
  EXPECT_EQ(message([] { fixed_at(integer("n", 1, 9), std::int64_t{12}); }), "parameter 'n': 12 is outside [1, 9]");
  EXPECT_EQ(message([] { fixed_at(integer("n", 1, 9), 1.5); }), "parameter 'n': 1.5 is not a whole number");
  EXPECT_EQ(message_of({fixed_at(real("n", 1, 9), 5.0)}),
            "no parameter can vary: all are fixed, or inactive because of fixed ones; free at least one");
  EXPECT_EQ(message_of({fixed_at(real("n", 1, 9), 5.0), real("x", 0, 1)}, {{"small", "n <= 4"}}),
            "the fixed parameters violate the constraint \"n <= 4\"; change their values, or the constraint");
  EXPECT_EQ(message_at(mixed(), {{"x", 0.5}, {"y", 1.0}, {"n", std::int64_t{6}}}),
            "parameter 'n': it is fixed at 5, got 6");
  EXPECT_EQ(message([] {
              (void)mixed().searched(std::vector<double>{0.5, 1});
            }),
            "got 2 values, but the space has 5 parameters");
}

}  // namespace
}  // namespace culmen
