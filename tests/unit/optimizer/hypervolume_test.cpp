// Hypervolumes, and what is selected by them and by reference directions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/nsga/hypervolume.hpp"
#include "culmen/optimizer/methods/nsga/survival.hpp"

namespace culmen {
namespace {
using nsga::contribution, nsga::expected_losses, nsga::hypervolume, nsga::reference_directions, nsga::Values;

std::vector<Values> random_points(std::size_t n, std::size_t objectives, std::uint64_t seed) {
  Random random(seed);
  std::vector<Values> out(n, Values(objectives));
  for (auto& p : out) {
    for (double& v : p) v = random.uniform();
  }
  return out;
}

/// By inclusion and exclusion over all subsets.
double by_subsets(const std::vector<Values>& points, const Values& reference) {
  double sum = 0;
  for (std::size_t subset = 1; subset < (std::size_t{1} << points.size()); ++subset) {
    double sign = -1, product = 1;
    Values worst(reference.size(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if ((subset >> i & 1) == 0) continue;
      sign = -sign;
      for (std::size_t k = 0; k < worst.size(); ++k) worst[k] = std::max(worst[k], points[i][k]);
    }
    for (std::size_t k = 0; k < worst.size(); ++k) product *= std::max(0.0, reference[k] - worst[k]);
    sum += sign * product;
  }
  return sum;
}

class HypervolumeOf : public testing::TestWithParam<std::size_t> {};

TEST_P(HypervolumeOf, is_that_of_all_subsets_included_and_excluded) {
  const Values reference(GetParam(), 0.9);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto points = random_points(8, GetParam(), seed);
    points.push_back(points.front());
    EXPECT_NEAR(hypervolume(points, reference), by_subsets(points, reference), 1e-12);
  }
}

TEST_P(HypervolumeOf, falls_by_the_contribution_of_a_point_that_leaves) {
  const Values reference(GetParam(), 1.1);
  const auto points = random_points(12, GetParam(), 7);
  for (std::size_t k = 0; k < points.size(); ++k) {
    auto others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    EXPECT_NEAR(contribution(points, k, reference), hypervolume(points, reference) - hypervolume(others, reference),
                1e-12);
  }
}

TEST_P(HypervolumeOf, is_lost_as_expected_from_samples_where_one_leaves) {
  Random random(3);
  const Values reference(GetParam(), 1.1);
  const auto points = random_points(6, GetParam(), 2);
  Values ideal = reference;
  for (const auto& p : points) {
    for (std::size_t k = 0; k < p.size(); ++k) ideal[k] = std::min(ideal[k], p[k]);
  }
  double box = 1;
  for (std::size_t k = 0; k < ideal.size(); ++k) box *= reference[k] - ideal[k];
  const auto losses = expected_losses(points, 1, reference, 40000, random);
  for (std::size_t k = 0; k < points.size(); ++k)
    EXPECT_NEAR(losses[k] / 40000 * box, contribution(points, k, reference), 0.01);
}

INSTANTIATE_TEST_SUITE_P(Objectives, HypervolumeOf, testing::Values(2, 3, 4, 5));

TEST(Hypervolume, of_nothing_inside_the_reference_is_nothing) {
  EXPECT_EQ(hypervolume({}, {1, 1}), 0);
  EXPECT_EQ(hypervolume({{1, 0}, {0, 2}}, {1, 1}), 0);
  EXPECT_DOUBLE_EQ(hypervolume({{0.25, 0.5, 0}}, {1, 1, 1}), 0.375);
}

TEST(ReferenceDirections, are_the_largest_grid_that_fits) {
  EXPECT_EQ(reference_directions(3, 100).size(), 91) << "twelve divisions";
  EXPECT_EQ(reference_directions(2, 100).size(), 100);
  EXPECT_EQ(reference_directions(8, 160).size(), 156) << "120 of three divisions, 36 of two within";
  for (const std::size_t objectives : {2, 3, 5, 10}) {
    for (const auto& d : reference_directions(objectives, 50))
      EXPECT_NEAR(std::accumulate(d.begin(), d.end(), 0.0), 1, 1e-12);
  }
}

struct Members {
  explicit Members(const std::vector<Values>& all) {
    for (const auto& values : all) {
      outcomes.push_back(Outcome::of_value(values.front()));
      outcomes.back().values = values;
    }
  }
  std::vector<std::size_t> kept(nsga::Survival& survival, std::size_t count) const {
    std::vector<const Outcome*> all;
    for (const auto& o : outcomes) all.push_back(&o);
    return survival.select(all, count);
  }
  std::vector<Outcome> outcomes;
};

TEST(SurvivalByHypervolume, lets_those_go_that_add_least) {
  const Members members({{0, 1}, {0.1, 0.8}, {0.11, 0.79}, {0.5, 0.5}, {1, 0}, {1, 1}});
  EXPECT_THAT(members.kept(*nsga::by_hypervolume(1), 4), testing::UnorderedElementsAre(0, 2, 3, 4));
  EXPECT_THAT(members.kept(*nsga::by_hypervolume(1), 5), testing::UnorderedElementsAre(0, 1, 2, 3, 4));
}

TEST(SurvivalByHypervolume, takes_no_notice_of_scales) {
  auto points = random_points(40, 3, 5);
  const auto kept = Members(points).kept(*nsga::by_hypervolume(1), 6);
  for (auto& p : points) p[1] = 1024 * p[1];
  EXPECT_EQ(Members(points).kept(*nsga::by_hypervolume(1), 6), kept);
}

TEST(SurvivalByDirections, keeps_one_along_each_where_there_are_enough) {
  std::vector<Values> points;
  for (int i = 0; i <= 40; ++i) points.push_back({i / 40.0, 1 - i / 40.0});
  const Members members(points);
  EXPECT_THAT(members.kept(*nsga::by_directions(1, 2, 5), 5), testing::UnorderedElementsAre(0, 10, 20, 30, 40));
}

/// The last point is far out in the first value and hardly better than others in the second.
TEST(SurvivalByDirections, spreads_over_the_front_although_one_member_is_far_out) {
  std::vector<Values> points;
  std::vector<std::size_t> on_directions;
  for (int i = 0; i <= 8; ++i) {
    for (int j = 0; i + j <= 8; ++j) {
      if (i % 2 == 0 && j % 2 == 0) on_directions.push_back(points.size());
      points.push_back({i / 8.0, j / 8.0, (8 - i - j) / 8.0});
    }
  }
  points.push_back({100, -0.001, 0.5});
  EXPECT_THAT(Members(points).kept(*nsga::by_directions(1, 3, 15), 15),
              testing::UnorderedElementsAreArray(on_directions));
}

class EverySurvival : public testing::TestWithParam<const char*> {
 protected:
  static std::unique_ptr<nsga::Survival> made() {
    const std::string name = GetParam();
    if (name == "crowding") return nsga::by_crowding();
    return name == "hypervolume" ? nsga::by_hypervolume(1) : nsga::by_directions(1, 3, 10);
  }
};

TEST_P(EverySurvival, takes_lower_fronts_then_what_is_nearer_to_feasible) {
  Members members({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {0, 0, -1}, {5, 5, 5}});
  members.outcomes[0].violation = 2;
  members.outcomes[1].violation = 1;
  const auto survival = made();
  EXPECT_THAT(members.kept(*survival, 2), testing::ElementsAre(3, 2));
  EXPECT_THAT(members.kept(*survival, 4), testing::ElementsAre(3, 2, 4, 1));
}

TEST_P(EverySurvival, is_that_of_the_better_with_one_objective) {
  const std::vector<Outcome> outcomes{Outcome::of_value(3), Outcome::of_value(1), Outcome::of_value(2)};
  EXPECT_THAT(made()->select({&outcomes[0], &outcomes[1], &outcomes[2]}, 2), testing::ElementsAre(1, 2));
}

TEST_P(EverySurvival, survives_equal_and_huge_values) {
  EXPECT_EQ(Members(std::vector<Values>(30, {1, 1, 1})).kept(*made(), 10).size(), 10);
  std::vector<Values> huge;
  for (int i = 0; i < 30; ++i) huge.push_back({i * 1e307, -i * 1e307, i % 2 == 0 ? 1e308 : -1e308});
  EXPECT_EQ(Members(huge).kept(*made(), 10).size(), 10);
}

INSTANTIATE_TEST_SUITE_P(All, EverySurvival, testing::Values("crowding", "hypervolume", "directions"));
}  // namespace
}  // namespace culmen
