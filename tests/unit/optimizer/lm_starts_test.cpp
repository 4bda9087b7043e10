// The first evaluations of Levenberg and Marquardt's method: starts, screening, and the end by agreement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "culmen/optimizer/combine/combinators.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using Point = std::vector<double>;
using Residuals = std::function<Point(const Point&)>;
using Batch = std::vector<Candidate>;

Space box(std::size_t n) { return cube(n, -10, 10); }

std::unique_ptr<Optimizer> lm_of(const Space& space, std::vector<Point> starts, std::uint64_t budget = 0,
                                 Edition edition = newest_edition, const OptimizerOptions& options = {}) {
  Terms terms{{true, 1}, budget};
  terms.edition = edition;
  return make_search({"lm", options, 1, std::move(starts), false, terms}, space);
}

Batch asked(Optimizer& lm, std::size_t n = 1000) {
  Batch batch;
  lm.ask(n, batch);
  return batch;
}

void tell_all(Optimizer& lm, const Batch& batch, const Residuals& f) {
  for (const auto& c : batch) lm.tell(c.id, Outcome::of_residuals(f(c.x)));
}

Point line(const Point& p) {
  Point out;
  for (int t = 0; t < 20; ++t) out.push_back((p[0] + p[1] * t - 2 - 0.5 * t + 0.1 * std::sin(7.0 * t)) / 0.1);
  return out;
}

Point lorentz(const Point& p) {
  Point out;
  for (int t = -30; t <= 30; ++t) {
    const auto at = [t](double height, double place, double width, double floor) {
      return height * width * width / (std::pow(t / 6.0 - place, 2) + width * width) + floor;
    };
    out.push_back((at(p[0], p[1], p[2], p[3]) - at(3, 0.7, 0.8, 0.5) - 0.05 * std::sin(5.0 * t)) / 0.05);
  }
  return out;
}

/// Evaluations, in rounds of at most `n`, until the sum is within 1e-6 of the least one.
std::size_t evaluations_to_minimum(const Space& space, const Point& start, const Residuals& f, std::size_t n) {
  const auto sum_after = [&](std::size_t budget, double target) {
    const auto lm = lm_of(space, {start}, budget);
    double best = std::numeric_limits<double>::infinity();
    std::size_t told = 0;
    while (told < budget && best > target) {
      for (const auto& c : asked(*lm, n)) {
        const auto outcome = Outcome::of_residuals(f(c.x));
        ++told;
        best = std::min(best, outcome.value);
        lm->tell(c.id, outcome);
      }
    }
    return std::pair{best, told};
  };
  const double least = sum_after(2000, 0).first;
  return sum_after(2000, least * (1 + 1e-6)).second;
}

TEST(LmStarts, a_fit_that_has_a_start_needs_few_evaluations) {
  for (const std::size_t workers : {1, 2, 8}) {
    EXPECT_LE(evaluations_to_minimum(box(2), {1, 0}, line, workers), 15) << workers;
    EXPECT_LE(evaluations_to_minimum(
                  Space{real("height", 0, 10), real("place", -5, 5), real("width", 0.01, 5), real("floor", -2, 2)},
                  {1, 0, 1.5, 0}, lorentz, workers),
              70)
        << workers;
  }
}

TEST(LmStarts, a_start_is_evaluated_alone_and_then_its_slopes) {
  const auto lm = lm_of(box(2), {{1, 2}});
  const auto start = asked(*lm);
  ASSERT_EQ(start.size(), 1);
  EXPECT_EQ(start[0].x, (Point{1, 2}));
  EXPECT_TRUE(asked(*lm).empty()) << "the descent depends on it";
  tell_all(*lm, start, line);
  const auto slopes = asked(*lm);
  EXPECT_EQ(slopes.size(), 2);
  for (const auto& c : slopes) EXPECT_LT(std::hypot(c.x[0] - 1, c.x[1] - 2), 1e-6);
}

TEST(LmStarts, a_start_comes_first_without_generations_too) {
  auto terms = Terms{{true, 1}, 0, Mode::asynchronous};
  const auto lm = make_search({"lm", {}, 1, {{1, 2}}, false, terms}, box(2));
  const auto start = asked(*lm, 8);
  EXPECT_EQ(start.size(), 1);
  tell_all(*lm, start, line);
  const auto next = asked(*lm, 8);
  EXPECT_EQ(next.size(), 8) << "nobody waits";
  for (std::size_t k = 0; k < 2; ++k) EXPECT_LT(std::hypot(next[k].x[0] - 1, next[k].x[1] - 2), 1e-6);
}

TEST(LmStarts, the_best_of_many_come_first) {
  auto x = real("x", -10, 10);
  x.initial = -9;
  const auto lm = lm_of(Space{x, real("y", -10, 10)}, {{5, 5}, {2, 0.5}, {-8, 8}, {4, 0}, {3, 1}}, 0, newest_edition,
                        {{"descents", 2}});
  const auto starts = asked(*lm);
  EXPECT_EQ(starts.size(), 6);
  tell_all(*lm, starts, line);
  const auto slopes = asked(*lm);
  ASSERT_EQ(slopes.size(), 4) << "of two descents";
  EXPECT_LT(std::hypot(slopes[0].x[0] - 2, slopes[0].x[1] - 0.5), 1e-4);
  EXPECT_LT(std::hypot(slopes[2].x[0] - 4, slopes[2].x[1]), 1e-4);
}

TEST(LmStarts, starts_that_fail_or_are_cancelled_leave_the_search_as_it_is_without_them) {
  const auto lm = lm_of(box(2), {{1, 2}, {3, 4}}), none = lm_of(box(2), {});
  const auto starts = asked(*lm);
  lm->tell(starts[0].id, Outcome::failure(Status::failed, "no"));
  lm->cancel(starts[1].id);
  const auto screened = asked(*lm), expected = asked(*none);
  ASSERT_EQ(screened.size(), expected.size());
  for (std::size_t k = 0; k < screened.size(); ++k) EXPECT_EQ(screened[k].x, expected[k].x);
}

TEST(LmStarts, screening_follows_the_budget) {
  const auto first = [](std::uint64_t budget) { return asked(*lm_of(box(2), {}, budget)).size(); };
  EXPECT_EQ(first(0), 32) << "no limit";
  EXPECT_EQ(first(3000), 32);
  EXPECT_EQ(first(300), 12);
  EXPECT_EQ(first(100), 5);
  EXPECT_EQ(first(10), 1);
}

TEST(LmStarts, of_the_first_edition_are_evaluated_together_with_the_screening) {
  const auto lm = lm_of(box(2), {{1, 2}}, 100, Edition::first);
  const auto batch = asked(*lm);
  EXPECT_EQ(batch.size(), 33);
  tell_all(*lm, batch, line);
  const auto slopes = asked(*lm);
  EXPECT_EQ(slopes.size(), 8) << "of four descents";
  EXPECT_LT(std::hypot(slopes[0].x[0] - 1, slopes[0].x[1] - 2), 1e-6);
}

TEST(LmAgreement, ends_by_default_but_not_in_the_first_edition) {
  for (const auto edition : {Edition::first, Edition::second}) {
    const auto lm = lm_of(box(2), {{1, 2}}, 0, edition);
    for (int k = 0; k < 200; ++k) tell_all(*lm, asked(*lm), line);
    EXPECT_EQ(lm->converged(), edition == Edition::second);
    EXPECT_FALSE(lm->finished());
  }
}

TEST(LmSearches, one_from_a_start_is_one_fit) {
  std::vector<Point> starts{{1, 2}, {3, 4}};
  const auto lm = lm_of(box(2), starts, 0, newest_edition, {{"searches", 1}, {"descents", 1}});
  std::size_t told = 0;
  while (!lm->converged() && told < 100) {
    const auto batch = asked(*lm);
    told += batch.size();
    tell_all(*lm, batch, line);
  }
  EXPECT_LE(told, 20);
  EXPECT_EQ(lm->remark(), "option 'searches' ended the study after 1 local search; with searches = 0 it continues");
}

TEST(LmAgreement, changes_no_candidate) {
  for (const auto mode : {Mode::generational, Mode::asynchronous}) {
    const auto make = [&](int agreement) {
      return make_search({"lm", {{"agreement", agreement}}, 1, {{1, 2}}, false, {{true, 1}, 0, mode}}, box(2));
    };
    const auto early = make(1), late = make(50), never = make(0);
    for (int k = 0; k < 300; ++k) {
      const auto a = asked(*early, 4), b = asked(*late, 4), c = asked(*never, 4);
      ASSERT_EQ(a, b);
      ASSERT_EQ(a, c);
      for (auto* lm : {early.get(), late.get(), never.get()}) tell_all(*lm, a, line);
    }
    EXPECT_TRUE(early->converged());
    EXPECT_FALSE(never->converged());
  }
}
/// As a program prints them. The last parameter of three has no effect.
Point printed(const Point& p, int digits) {
  Point out;
  for (int t = 0; t < 10; ++t) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.*g", digits, p[0] + p[1] * t - 2 - 3 * t);
    out.push_back(std::strtod(text.data(), nullptr));
  }
  return out;
}

double best_of_one_search(const Space& space, Edition edition, int digits = 10) {
  const auto lm = lm_of(space, {Point(space.size(), 0)}, 0, edition, {{"searches", 1}});
  double best = std::numeric_limits<double>::infinity();
  for (int told = 0; told < 200 && !lm->converged();) {
    for (const auto& c : asked(*lm)) {
      const auto outcome = Outcome::of_residuals(printed(c.x, digits));
      best = std::min(best, outcome.value);
      lm->tell(c.id, outcome);
      ++told;
    }
  }
  EXPECT_TRUE(lm->converged());
  return best;
}

TEST(LmDigits, a_search_leaves_zero_though_the_residuals_have_few_digits) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  auto a = real("a", -inf, inf), b = real("b", -inf, inf);
  a.initial = b.initial = 0.0;
  const Space without_bounds{a, b};
  for (const auto& space : {without_bounds, box(2), box(3)}) EXPECT_LT(best_of_one_search(space, newest_edition), 1e-9);
  for (const auto& space : {without_bounds, box(2), box(3)})
    EXPECT_LT(best_of_one_search(space, newest_edition, 7), 3000);
  EXPECT_GT(best_of_one_search(box(2), Edition::fourth), 3000);  // studies of that edition are in stores
}

}  // namespace
}  // namespace culmen
