// Descents in the reals of mixed spaces.
#include "culmen/optimizer/automatic/reals_alone.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

namespace culmen::automatic {
namespace {
using testing::Each, testing::ElementsAre;
using Point = std::vector<double>;

const Space mixed{real("x", -5, 5), integer("k", -5, 5), real("y", -5, 5), categorical("way", {"a", "b", "c"})};
const Terms in_turns{}, at_any_time{.generational = false};

double square(double v) { return v * v; }

/// Least at (k, k, k) for k = 3 by the third way; each k has its own minimum of x and y.
double valley(const Point& v) {
  return 100 * square(v[0] - v[1]) + square(v[2] - v[1]) + square(v[1] - 3) + 2 * square(v[3] - 2);
}

/// What it asked for, one after the other.
std::vector<Point> search(RealsAlone& optimizer, std::size_t evaluations,
                          const std::function<double(const Point&)>& objective = valley) {
  std::vector<Point> points;
  std::vector<Candidate> batch;
  while (points.size() < evaluations) {
    batch.clear();
    optimizer.ask(1, batch);
    optimizer.tell(batch.at(0).id, Outcome::of_value(objective(batch[0].x)));
    points.push_back(batch[0].x);
  }
  return points;
}

TEST(RealsAlone, DescendInTheRealsWhileTheOthersStay) {
  RealsAlone optimizer(mixed, 1, {1, -2, 4, 0}, in_turns);
  double best = 1e9;
  for (const auto& x : search(optimizer, 15)) {
    EXPECT_EQ(x[1], -2);
    EXPECT_EQ(x[3], 0);
    best = std::min(best, valley(x));
  }
  EXPECT_NEAR(best, 25 + 8, 1e-6) << "the least for k = -2 and the first way";
}

TEST(RealsAlone, FindTheOthersByStepsAndChoices) {
  RealsAlone optimizer(mixed, 1, {1, -2, 4, 0}, in_turns);
  double best = 1e9;
  for (const auto& x : search(optimizer, 1500)) best = std::min(best, valley(x));
  EXPECT_NEAR(best, 0, 1e-6);
}

TEST(RealsAlone, ChangeTwoOfTheOthersAtATimeAfterEachAlone) {
  RealsAlone optimizer(mixed, 1, {0, 0, 0, 0}, in_turns);
  const auto pair = [](const Point& v) {
    return square(v[0]) + square(v[2]) + (v[1] == 1 && v[3] == 1 ? 0 : 1 + std::abs(v[1]) + v[3]);
  };
  std::set<std::size_t> changed;
  for (const auto& x : search(optimizer, 600, pair)) changed.insert((x[1] != 0) + (x[3] != 0));
  EXPECT_THAT(changed, ElementsAre(0, 1, 2));
}

TEST(RealsAlone, GoOnFromABetterVectorOfOthersThatTheyHearOf) {
  for (const auto& terms : {in_turns, at_any_time}) {
    RealsAlone optimizer(mixed, 1, {1, -2, 4, 0}, terms);
    search(optimizer, 10);
    const Point heard{3.5, 3, 2.5, 2};
    optimizer.hear(heard, Outcome::of_value(valley(heard)));
    double best = 1e9;
    for (const auto& x : search(optimizer, 100)) best = std::min(best, valley(x));
    EXPECT_NEAR(best, 0, 1e-6);
  }
}

TEST(RealsAlone, SearchTheRealsThatAChoiceMakesActive) {
  Parameter depth = real("depth", 0, 10);
  depth.active_when = "way == \"deep\"";
  depth.initial = 5;
  const Space space{real("x", -5, 5), categorical("way", {"flat", "deep"}), depth};
  RealsAlone optimizer(space, 1, {1, 0, 5}, in_turns);
  double best = 1e9;
  for (const auto& v :
       search(optimizer, 200, [](const Point& u) { return square(u[0] - 1) + (u[1] == 1 ? square(u[2] - 7) : 1); })) {
    EXPECT_TRUE(v[1] == 1 || v[2] == 5) << "at rest";
    best = std::min(best, square(v[0] - 1) + (v[1] == 1 ? square(v[2] - 7) : 1));
  }
  EXPECT_NEAR(best, 0, 1e-6);
}

TEST(RealsAlone, ResultsOfDescentsThatAreOverCount) {
  RealsAlone optimizer(mixed, 1, {1, -2, 4, 0}, at_any_time);
  std::vector<Candidate> late;
  optimizer.ask(5, late);
  const Point heard{3.5, 3, 2.5, 2};
  optimizer.hear(heard, Outcome::of_value(7));
  const auto since = search(optimizer, 200, [](const Point& /*x*/) { return 50.0; });
  ASSERT_TRUE(std::ranges::any_of(since, [](const Point& x) { return x[1] == 3; })) << "it went on";
  for (const auto& c : late) optimizer.tell(c.id, Outcome::of_value(c.id == late[1].id ? 1 : 60));
  const auto then = search(optimizer, 200, [](const Point& /*x*/) { return 50.0; });
  EXPECT_TRUE(std::ranges::any_of(then, [](const Point& x) { return x[1] == -2; })) << "back at what was better";
}
}  // namespace
}  // namespace culmen::automatic
