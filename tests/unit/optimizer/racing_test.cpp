// Races: the tests by ranks, who wins, and what it costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/optimizer/methods/racing/race.hpp"
#include "culmen/optimizer/methods/racing/ranks.hpp"

namespace culmen {
namespace {
using Measure = std::function<Outcome(const std::vector<double>& x, Random& noise)>;

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<racing::Score> scores;
  for (const double v : values) scores.push_back({0, v});
  return racing::ranks_of(scores);
}

/// Three ways of rounding first base by 22 players: Hollander and Wolfe, Nonparametric Statistical Methods, 1973, p.
/// 140.
racing::Blocks first_base() {
  const std::vector<std::vector<double>> seconds{
      {5.40, 5.50, 5.55}, {5.85, 5.70, 5.75}, {5.20, 5.60, 5.50}, {5.55, 5.50, 5.40}, {5.90, 5.85, 5.70},
      {5.45, 5.55, 5.60}, {5.40, 5.40, 5.35}, {5.45, 5.50, 5.35}, {5.25, 5.15, 5.00}, {5.85, 5.80, 5.70},
      {5.25, 5.20, 5.10}, {5.65, 5.55, 5.45}, {5.60, 5.35, 5.45}, {5.05, 5.00, 4.95}, {5.50, 5.50, 5.40},
      {5.45, 5.55, 5.50}, {5.55, 5.55, 5.35}, {5.45, 5.50, 5.55}, {5.50, 5.45, 5.25}, {5.65, 5.60, 5.40},
      {5.70, 5.65, 5.55}, {6.30, 6.30, 6.25}};
  racing::Blocks blocks;
  for (const auto& player : seconds) blocks.push_back(ranks_of(player));
  return blocks;
}

TEST(Ranks, are_shared_by_equals) {
  EXPECT_EQ(ranks_of({3, 1, 3, 2}), (std::vector<double>{3.5, 1, 3.5, 2}));
  const std::vector<racing::Score> mixed{racing::Score::of(Outcome::failure(Status::crashed, "")), {0, 9}, {0.1, 1}};
  EXPECT_EQ(racing::ranks_of(mixed), (std::vector<double>{3, 1, 2}));
}

TEST(Friedman, has_the_statistic_of_the_textbook) {
  const auto f = racing::friedman(first_base());
  EXPECT_NEAR(f.statistic, 11.1429, 1e-4);
  EXPECT_EQ(f.sums, (std::vector<double>{53, 47, 32}));
}

TEST(Friedman, finds_who_is_worse_than_the_best) {
  EXPECT_EQ(racing::worse_than_best(first_base(), 0.05), (std::vector<char>{1, 1, 0}));
  EXPECT_EQ(racing::worse_than_best(first_base(), 0.001), (std::vector<char>{0, 0, 0}));
}

/// Hamilton's depression scale before and after: Hollander and Wolfe, p. 29.
TEST(SignedRank, has_the_probability_of_the_textbook) {
  const std::vector<double> before{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const std::vector<double> after{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> differences;
  for (std::size_t k = 0; k < before.size(); ++k) differences.push_back(before[k] - after[k]);
  const auto found = racing::signed_rank(differences);
  EXPECT_NEAR(found.p, 0.0390625, 1e-12);
  EXPECT_EQ(found.favour, 40 - 5);
}

TEST(SignTest, is_binomial_and_forgets_zeros) {
  const auto found = racing::sign_test({-1, -2, -9, -1, -3, 0, -1, -1, 1000, -2});
  EXPECT_NEAR(found.p, 2 * (1 + 9) / 512.0, 1e-12);
  EXPECT_EQ(found.favour, 1 - 8);
}

TEST(SignedRank, is_nearly_normal_where_there_are_many) {
  std::vector<double> differences;
  for (int k = 1; k <= 50; ++k) differences.push_back(k % 3 == 0 ? -k : k);
  const double exact = racing::signed_rank(differences).p;
  differences.push_back(25.5);
  differences.push_back(-25.25);
  EXPECT_NEAR(racing::signed_rank(differences).p, exact, 0.02);
}

/// Of twelve, in each round the same order at first; then the second is the better of two.
TEST(Race, leaves_the_last_rival_in_until_the_winner_is_confirmed) {
  racing::Race race(12, false, {});
  std::size_t round = 0;
  const auto go_to = [&](std::size_t rounds) {
    for (; round < rounds; ++round) {
      for (const auto member : race.survivors()) {
        const bool turned = round >= 7 && member == 1;
        race.note(member, round, Outcome::of_value(turned ? -1 : static_cast<double>(member)));
      }
    }
  };
  go_to(9);
  EXPECT_THAT(race.survivors(), testing::ElementsAre(0, 1));
  EXPECT_FALSE(race.over());
  go_to(30);
  EXPECT_EQ(race.order().front(), 1);
}

Space methods(std::size_t n, std::optional<double> initial = {}) {
  decltype(Parameter::choices) names;
  for (std::size_t k = 0; k < n; ++k) names.emplace_back("method" + std::to_string(k));
  auto parameter = categorical("method", names);
  parameter.initial = initial;
  return Space{parameter};
}

struct Found {
  std::optional<Recommendation> recommended;
  std::uint64_t evaluations = 0;
  std::vector<std::vector<double>> points = {};
};

Found raced(const Space& space, std::uint64_t seed, const Measure& measure, const OptimizerOptions& options = {}) {
  const auto race = make_search({"racing", options, seed, {}}, space);
  Random noise(seed, 9);
  Found found;
  std::vector<Candidate> batch;
  for (; race->ask(8, batch) > 0; batch.clear()) {
    for (const auto& c : batch) {
      found.points.push_back(c.x);
      race->tell(c.id, measure(c.x, noise));
    }
  }
  EXPECT_TRUE(race->finished());
  found.recommended = race->recommendation();
  found.evaluations = race->asked();
  return found;
}

constexpr double truly_best = 7;
double seconds(const std::vector<double>& x) { return 1 + 0.1 * std::abs(x[0] - truly_best); }

Outcome normal(const std::vector<double>& x, Random& noise) {
  return Outcome::of_value(seconds(x) + 0.1 * noise.normal());
}
Outcome log_normal(const std::vector<double>& x, Random& noise) {
  return Outcome::of_value(seconds(x) * std::exp(0.1 * noise.normal()));
}
Outcome with_outliers(const std::vector<double>& x, Random& noise) {
  const double once = noise.below(20) == 0 ? 10 : 1;
  return Outcome::of_value(seconds(x) * once * std::exp(0.05 * noise.normal()));
}

struct Noise {
  std::string name;
  Measure measure;
  std::string elimination;
};

void PrintTo(const Noise& noise, std::ostream* out) { *out << noise.name; }

class Races : public testing::TestWithParam<Noise> {};

TEST_P(Races, keep_the_best_and_save_half_of_the_evaluations) {
  const std::size_t methods_in_all = 16, races = 200;
  std::size_t right = 0;
  std::uint64_t evaluations = 0;
  for (std::uint64_t seed = 1; seed <= races; ++seed) {
    const auto found =
        raced(methods(methods_in_all), seed, GetParam().measure, {{"elimination", GetParam().elimination}});
    ASSERT_TRUE(found.recommended);
    right += found.recommended->x[0] == truly_best ? 1 : 0;
    evaluations += found.evaluations;
    EXPECT_GE(found.recommended->evaluations, 8U);
  }
  RecordProperty("right", static_cast<int>(right));
  RecordProperty("evaluations", static_cast<int>(evaluations / races));
  EXPECT_GE(right, races * 95 / 100);
  EXPECT_LE(evaluations, races * methods_in_all * 30 / 2);
}

INSTANTIATE_TEST_SUITE_P(All, Races,
                         testing::Values(Noise{"normal", normal, "rank"}, Noise{"log_normal", log_normal, "rank"},
                                         Noise{"outliers", with_outliers, "rank"},
                                         Noise{"outliers_halving", with_outliers, "halving"}),
                         [](const auto& info) { return info.param.name; });

TEST(Racing, keeps_the_default_where_nothing_is_better) {
  const auto alike = [](const std::vector<double>&, Random& noise) { return Outcome::of_value(1 + noise.normal()); };
  for (const auto* elimination : {"rank", "halving"}) {
    std::size_t kept = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      const auto found = raced(methods(12, 5), seed, alike, {{"elimination", elimination}});
      EXPECT_EQ(found.points[0][0], 5);
      kept += found.recommended->x[0] == 5 ? 1 : 0;
    }
    RecordProperty(elimination, static_cast<int>(kept));
    EXPECT_GE(kept, 190U) << elimination;
  }
}

TEST(Racing, leaves_the_default_for_what_is_better) {
  for (const auto* elimination : {"rank", "halving"}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
      EXPECT_NE(raced(methods(12, 2), seed, normal, {{"elimination", elimination}}).recommended->x[0], 2);
  }
}

TEST(Racing, says_mean_and_error_of_what_it_recommends) {
  const auto found = raced(methods(4, 1), 3, [](const std::vector<double>& x, Random& noise) {
    return Outcome::of_value(x[0] == 1 ? 1 + 0.01 * noise.normal() : 2);
  });
  ASSERT_TRUE(found.recommended);
  EXPECT_EQ(found.recommended->x[0], 1);
  EXPECT_GE(found.recommended->evaluations, 10U);
  EXPECT_LE(found.recommended->evaluations, 12U);
  EXPECT_NEAR(found.recommended->value, 1, 0.01);
  EXPECT_GT(found.recommended->error, 0.001);
  EXPECT_LT(found.recommended->error, 0.006);
}

TEST(Racing, leaves_out_what_fails_at_first_and_ranks_later_failures_worst) {
  std::vector<std::size_t> times(3, 0);
  const auto measure = [&](const std::vector<double>& x, Random& noise) {
    const auto k = static_cast<std::size_t>(x[0]);
    const bool fails = k == 0 || (k == 1 && times[1] > 1);
    ++times[k];
    return fails ? Outcome::failure(Status::crashed, "signal 11")
                 : Outcome::of_value(static_cast<double>(k) + noise.uniform());
  };
  EXPECT_EQ(raced(methods(3), 1, measure).recommended->x[0], 2);
  EXPECT_EQ(times[0], 1U);
}

TEST(Racing, ends_without_a_recommendation_where_all_fail) {
  const auto fails = [](const std::vector<double>&, Random&) { return Outcome::failure(Status::failed, "no"); };
  EXPECT_FALSE(raced(methods(3), 1, fails).recommended);
  EXPECT_FALSE(raced(Space{real("x", 0, 1)}, 1, fails).recommended);
}

TEST(Racing, never_recommends_what_does_not_fulfil_a_constraint) {
  const Space space({integer("n", 0, 15)}, {{"enough", "n >= 9"}});
  EXPECT_EQ(raced(space, 1, normal).recommended->x[0], 9);
}

TEST(Racing, gives_the_same_candidates_for_the_same_seed) {
  EXPECT_EQ(raced(methods(9), 4, with_outliers).points, raced(methods(9), 4, with_outliers).points);
  EXPECT_NE(raced(methods(9), 4, with_outliers).points, raced(methods(9), 5, with_outliers).points);
}

TEST(Racing, is_unchanged_by_an_offset_and_a_scale) {
  const auto moved = [](const std::vector<double>& x, Random& noise) {
    return Outcome::of_value(8 * normal(x, noise).value + 1024);
  };
  EXPECT_EQ(raced(methods(9), 4, normal).points, raced(methods(9), 4, moved).points);
}

TEST(Racing, comes_nearer_from_race_to_race_in_a_larger_space) {
  const Space space{real("x", -5, 5), real("y", -5, 5), categorical("c", {std::string("a"), std::string("b")})};
  const auto bowl = [](const std::vector<double>& x, Random& noise) {
    return Outcome::of_value(std::pow(x[0] - 1, 2) + std::pow(x[1] + 2, 2) + 2 * x[2] + 0.1 * noise.normal());
  };
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto found = raced(space, seed, bowl);
    EXPECT_NEAR(found.recommended->x[0], 1, 0.5);
    EXPECT_NEAR(found.recommended->x[1], -2, 0.5);
    EXPECT_EQ(found.recommended->x[2], 0);
    EXPECT_LE(found.evaluations, 4000U);
  }
}

/// Told in any order, a tenth of them very late, some cancelled.
TEST(Racing, finds_the_best_without_rounds_that_wait) {
  std::size_t right = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto race = make_optimizer("racing", methods(16), seed, {}, {.mode = Mode::asynchronous});
    Random noise(seed, 9), order(seed, 10);
    std::vector<Candidate> open;
    while (!race->finished()) {
      const std::size_t got = race->ask(8 - std::min<std::size_t>(8, open.size()), open);
      if (got == 0 && open.empty()) break;
      const auto k = order.below(10) == 0 ? order.below(open.size()) : open.size() - 1;
      const auto c = open[k];
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(k));
      if (order.below(30) == 0) race->cancel(c.id);
      else race->tell(c.id, normal(c.x, noise));
    }
    ASSERT_TRUE(race->finished());
    right += race->recommendation()->x[0] == truly_best ? 1 : 0;
  }
  EXPECT_GE(right, 47U);
}

TEST(Racing, evaluates_again_what_never_came) {
  const auto race = make_optimizer("racing", methods(16), 1, {}, {.mode = Mode::asynchronous});
  Random noise(1);
  std::vector<Candidate> lost, open;
  race->ask(40, lost);
  for (; race->ask(1, open) == 1; open.clear()) race->tell(open[0].id, normal(open[0].x, noise));
  EXPECT_TRUE(race->finished());
  EXPECT_EQ(race->recommendation()->x[0], truly_best);
  EXPECT_LE(race->asked(), 16U * 30 + 40);
  for (const auto& c : lost) race->tell(c.id, Outcome::of_value(-1));
  EXPECT_EQ(race->recommendation()->x[0], truly_best);
}

TEST(Racing, speaks_through_chains_and_starts_and_constraints) {
  const Space space({integer("n", 0, 9)}, {{"enough", "n >= 2"}});
  const auto chain = make_search({"racing,random", {{"racing.evaluations", 20}}, 1, {{3}, {4}}}, space);
  Random noise(1);
  std::vector<Candidate> batch;
  const auto go_to = [&](std::uint64_t asked) {
    while (chain->asked() < asked) {
      batch.clear();
      chain->ask(1, batch);
      chain->tell(batch[0].id, normal(batch[0].x, noise));
    }
  };
  EXPECT_FALSE(chain->recommendation());
  go_to(18);
  EXPECT_TRUE(chain->recommendation());
  go_to(30);
  EXPECT_FALSE(chain->recommendation());
}
}  // namespace
}  // namespace culmen
