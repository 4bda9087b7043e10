// Grid and scan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;

std::vector<Point> all_of(const std::string& optimizer, const Space& space, const OptimizerOptions& options = {}) {
  const auto made = make_optimizer(optimizer, space, 1, options);
  std::vector<Candidate> batch;
  while (made->ask(7, batch) > 0) EXPECT_LE(batch.size(), 100000U);
  EXPECT_TRUE(made->finished());
  std::vector<Point> points;
  for (auto& c : batch) points.push_back(c.x);
  return points;
}

Space conditional() {
  auto depth = integer("depth", 1, 3);
  depth.active_when = "method == 'tree'";
  return Space{categorical("method", {std::string("tree"), std::string("net")}), depth};
}

TEST(Grid, enumerates_every_combination_in_rows) {
  const Space space{real("x", 0, 1), boolean("on"), real("r", 1, 100, Scale::log)};
  const auto points = all_of("grid", space, {{"points", 3}, {"order", "rows"}});
  ASSERT_EQ(points.size(), 18U);
  EXPECT_EQ(points[0], (Point{0, 0, 1}));
  EXPECT_NEAR(points[1][2], 10, 1e-12);
  EXPECT_EQ(points[3], (Point{0, 1, 1}));
  EXPECT_EQ(points[17], (Point{1, 1, 100}));
}

TEST(Grid, spreads_the_same_combinations) {
  const Space space{real("x", 0, 1), real("y", 0, 1)};
  const auto rows = all_of("grid", space, {{"points", 20}, {"order", "rows"}});
  const auto spread = all_of("grid", space, {{"points", 20}});
  EXPECT_EQ(std::set(rows.begin(), rows.end()), std::set(spread.begin(), spread.end()));
  EXPECT_EQ(std::set(rows.begin(), rows.end()).size(), 400U);
  std::array<int, 4> quarters{};
  for (int k = 0; k < 40; ++k)
    ++quarters[static_cast<std::size_t>(std::min(3.0, 4 * spread[static_cast<std::size_t>(k)][0]))];
  EXPECT_THAT(quarters, testing::Each(testing::AllOf(testing::Ge(8), testing::Le(12))));
}

TEST(Grid, takes_all_choices_and_no_integer_twice) {
  const Space space{integer("n", 1, 4), categorical("c", {1.0, 2.0, 3.0}), integer("m", 1, 1000, Scale::log)};
  EXPECT_EQ(all_of("grid", space, {{"points", 2}}).size(), 2 * 3 * 2U);
  EXPECT_EQ(all_of("grid", space, {{"points", 4}}).size(), 4 * 3 * 4U);
}

TEST(Grid, keeps_to_the_total) {
  EXPECT_EQ(all_of("grid", cube(3, 0, 1), {{"total", 100}}).size(), 64U);
  EXPECT_EQ(all_of("grid", cube(3, 0, 1), {{"total", 1}}), (std::vector<Point>{{0.5, 0.5, 0.5}}));
}

TEST(Grid, does_not_repeat_what_differs_in_inactive_parameters_only) {
  const auto points = all_of("grid", conditional());
  EXPECT_THAT(points, testing::UnorderedElementsAre(Point{0, 1}, Point{0, 2}, Point{0, 3}, Point{1, 2}));
}

TEST(Grid, refuses_what_nobody_could_evaluate) {
  EXPECT_THROW(make_optimizer("grid", cube(20, 0, 1), 1), InputError);
  EXPECT_NO_THROW(make_optimizer("grid", cube(20, 0, 1), 1, {{"total", 2e6}}));
}

TEST(Scan, leaves_the_centre_in_one_parameter_at_a_time) {
  auto y = real("y", 0, 4);
  y.initial = 1;
  EXPECT_THAT(all_of("scan", Space{real("x", -1, 1), y}, {{"points", 3}}),
              testing::ElementsAre(Point{0, 1}, Point{-1, 1}, Point{1, 1}, Point{0, 0}, Point{0, 2}, Point{0, 4}));
}

TEST(Scan, evaluates_where_it_begins_once) {
  const auto all_of_search = [](const Space& space, std::vector<Point> starts) {
    const auto made =
        make_search({.optimizer = "scan", .options = {{"points", 2}}, .starts = std::move(starts)}, space);
    std::vector<Candidate> batch;
    while (made->ask(7, batch) > 0) EXPECT_LE(batch.size(), 100U);
    std::vector<Point> points;
    for (auto& c : batch) points.push_back(c.x);
    return points;
  };
  auto y = real("y", 0, 4);
  EXPECT_THAT(all_of_search(Space{real("x", -1, 1), y}, {{0, 3}}),
              testing::ElementsAre(Point{0, 3}, Point{-1, 3}, Point{1, 3}, Point{0, 0}, Point{0, 4}));
  y.initial = 1;
  EXPECT_THAT(all_of_search(Space{real("x", -1, 1), y}, {{0, 3}}),
              testing::ElementsAre(Point{0, 3}, Point{0, 1}, Point{-1, 1}, Point{1, 1}, Point{0, 0}, Point{0, 4}));
}

TEST(Scan, leaves_out_what_is_inactive) {
  EXPECT_THAT(all_of("scan", conditional()), testing::ElementsAre(Point{1, 2}, Point{0, 2}));
}
}  // namespace
}  // namespace culmen
