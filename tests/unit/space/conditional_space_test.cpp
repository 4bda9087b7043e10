#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "culmen/base/random.hpp"
#include "culmen/space/space.hpp"
#include "unit/space/messages.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Parameter when(Parameter p, const char* condition) {
  p.active_when = condition;
  return p;
}

Space tree() {
  return Space({when(real("rate", 0, 1), "layers > 1"), when(integer("layers", 1, 5), "method == 'net'"),
                categorical("method", {"tree", "net"}), integer("size", 1, 1000, Scale::log), boolean("fast"),
                ordinal("block", {16.0, 32.0, 64.0})},
               {{"small", "size * layers <= 100"}, {"block", "block >= 32 or fast"}});
}

TEST(ConditionalSpace, inactive_parameters_rest_and_are_not_named) {
  const auto space = tree();
  std::vector<double> x{0.9, 4, 0, 10, 1, 2};
  space.rest_inactive(x);
  EXPECT_THAT(x, ElementsAre(0.5, 3, 0, 10, 1, 2));
  EXPECT_THAT(space.activity(x), ElementsAre(0, 0, 1, 1, 1, 1));
  std::vector<std::string> names;
  for (const auto& [name, value] : space.named(x)) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("method", "size", "fast", "block"));
}

TEST(ConditionalSpace, what_depends_on_an_inactive_parameter_is_inactive) {
  const auto space = tree();
  EXPECT_THAT(space.activity(std::vector<double>{0.9, 4, 1, 10, 1, 2}), ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(space.activity(std::vector<double>{0.9, 1, 1, 10, 1, 2}), ElementsAre(0, 1, 1, 1, 1, 1));
}

TEST(ConditionalSpace, a_constraint_does_not_apply_while_its_parameters_are_inactive) {
  const auto space = tree();
  EXPECT_EQ(space.violation(std::vector<double>{0.5, 3, 1, 50, 1, 2}), 50);
  EXPECT_EQ(space.violation(std::vector<double>{0.5, 3, 0, 50, 1, 2}), 0);
  EXPECT_EQ(space.violation(std::vector<double>{0.5, 3, 0, 50, 0, 0}), 1);
}

TEST(ConditionalSpace, values_go_there_and_back) {
  const auto space = tree();
  Random random(3);
  for (int k = 0; k < 2000; ++k) {
    std::vector<double> unit(space.size()), x(space.size()), again(space.size());
    for (double& u : unit) u = random.uniform();
    space.from_unit(unit, x);
    EXPECT_EQ(space.vector_of(space.named(x)), x);
    space.to_unit(x, unit);
    space.from_unit(unit, again);
    for (std::size_t i = 1; i < x.size(); ++i) EXPECT_EQ(again[i], x[i]) << space[i].name;
  }
}

TEST(ConditionalSpace, survives_its_encoding) {
  auto parameters = tree().parameters();
  parameters[3].initial = 7;
  const Space space(parameters, tree().constraints());
  Bytes bytes;
  ByteWriter writer(bytes);
  space.encode(writer);
  ByteReader reader(bytes);
  EXPECT_EQ(Space::decode(reader), space);
}

TEST(ConditionalSpace, integers_on_a_log_scale_are_all_reached_and_small_ones_more_often) {
  const Space space{integer("n", 1, 1000, Scale::log)};
  Random random(5);
  std::vector<int> seen(1001);
  for (int k = 0; k < 100000; ++k) {
    std::vector<double> x{random.uniform()};
    space.from_unit(x, x);
    ++seen[static_cast<std::size_t>(x[0])];
  }
  EXPECT_GT(seen[1], 50 * seen[100]);
  std::vector<double> ends{0.0};
  space.from_unit(ends, ends);
  EXPECT_EQ(ends[0], 1);
  ends[0] = 1;
  space.from_unit(ends, ends);
  EXPECT_EQ(ends[0], 1000);
}

TEST(ConditionalSpace, choices_of_all_types_keep_their_type) {
  const std::vector<Choice> choices{
      std::monostate(),           true, false, std::int64_t{1}, 2.0, 0.5, "true", std::int64_t{1} << 60,
      (std::int64_t{1} << 60) + 1};
  const Space space{categorical("m", choices)};
  Bytes bytes;
  ByteWriter writer(bytes);
  space.encode(writer);
  ByteReader reader(bytes);
  const auto decoded = Space::decode(reader);
  EXPECT_EQ(decoded, space);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const auto value = value_of(decoded[0], static_cast<double>(i));
    EXPECT_EQ(std::visit([](const auto& v) { return Choice(v); }, value), choices[i]) << i;
    EXPECT_EQ(number_of(decoded[0], value), static_cast<double>(i));
  }
  EXPECT_EQ(number_of(decoded[0], 1.0), 3);
  EXPECT_EQ(number_of(decoded[0], std::int64_t{2}), 4);
  EXPECT_EQ(to_string(choices[0]) + to_string(choices[1]) + to_string(choices[4]), "nonetrue2");
}

TEST(ConditionalSpace, refuses_what_makes_no_sense_in_one_sentence) {
  EXPECT_THAT(message_of({categorical("m", {1.0, std::int64_t{1}})}), HasSubstr("the choice 1 is given twice"));
  EXPECT_THAT(message_of({categorical("m", {"a"})}), HasSubstr("'m': it needs at least two choices, got 1"));
  EXPECT_THAT(message_of({categorical("m", {"a", "b", "a"})}), HasSubstr("the choice a is given twice"));
  EXPECT_THAT(message_of({ordinal("m", {1.0, NAN})}), HasSubstr("is not a finite number"));
  EXPECT_THAT(message_of({integer("n", 0, 5, Scale::log)}), HasSubstr("above 0, got 0"));
  EXPECT_THAT(message_of({when(real("a", 0, 1), "b > 0"), when(real("b", 0, 1), "a > 0")}),
              HasSubstr("depends on the parameter itself"));
  EXPECT_THAT(message_of({when(real("a", 0, 1), "c > 0")}), HasSubstr("'a', its condition: \"c > 0\", character 1"));
  EXPECT_THAT(message_of({real("a", 0, 1)}, {{"area", "a * c < 1"}}), HasSubstr("constraint 'area': \"a * c < 1\""));
  auto outside = real("a", 0, 1);
  outside.initial = 2;
  EXPECT_THAT(message_of({outside}), HasSubstr("its initial value 2 is outside [0, 1]"));
}

TEST(ConditionalSpace, refuses_values_that_a_parameter_cannot_be) {
  const auto space = tree();
  const std::vector<Space::Named> right{{"method", "tree"}, {"size", 3.0}, {"fast", true}, {"block", 32.0}};
  EXPECT_EQ(message_at(space, right), "accepted");
  auto wrong = right;
  wrong[0].second = "forest";
  EXPECT_THAT(message_at(space, wrong), HasSubstr("'method': forest is not one of its choices: tree, net"));
  wrong = right;
  wrong[2].second = "yes";
  EXPECT_THAT(message_at(space, wrong), HasSubstr("'fast': it must be true or false, got yes"));
  wrong = right;
  wrong.emplace_back("rate", 0.5);
  EXPECT_THAT(message_at(space, wrong), HasSubstr("'rate' is given, but it is inactive"));
}

}  // namespace
}  // namespace culmen
