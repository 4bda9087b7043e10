#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/combine/automatic/probe.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;
using Point = std::vector<double>;

double sphere(const Point& x) {
  double sum = 0;
  for (const double v : x) sum += (v - 1) * (v - 1);
  return sum;
}

double rosenbrock(const Point& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum += 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + (1 - x[i]) * (1 - x[i]);
  return sum;
}

double rastrigin(const Point& x) {
  double sum = 0;
  for (const double v : x) sum += (v - 1) * (v - 1) + 10 * (1 - std::cos(2 * std::numbers::pi * (v - 1)));
  return sum;
}

/// Rastrigin's function of neighbours' sums and differences: not a sum over parameters.
double turned_rastrigin(const Point& x) {
  Point y;
  for (std::size_t i = 0; i + 1 < x.size(); i += 2) {
    y.push_back(1 + (x[i] + x[i + 1] - 2) / std::numbers::sqrt2);
    y.push_back(1 + (x[i] - x[i + 1]) / std::numbers::sqrt2);
  }
  return rastrigin(y);
}

automatic::Probe probed(const TestFunction& f, std::uint64_t seed, double first_noise = 0, std::size_t parameters = 6) {
  const auto space = cube(parameters, -5, 5);
  automatic::Probe probe(space, seed, Mode::generational);
  probe.hear(space.start(), Outcome::of_value(f(space.start()) * (1 + first_noise)));
  for (std::vector<Candidate> asked; probe.ask(100, asked) > 0; asked.clear()) {
    for (const auto& c : asked) probe.tell(c.id, Outcome::of_value(f(c.x)));
  }
  return probe;
}

TEST(Probe, sees_a_sum_over_parameters) {
  int far = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_TRUE(probed(rastrigin, seed).separable()) << seed;
    far += probed([](const Point& x) { return 1e6 + 1e-3 * sphere(x); }, seed).separable() ? 1 : 0;
    EXPECT_FALSE(probed(rosenbrock, seed).separable()) << seed;
    EXPECT_FALSE(probed([](const Point& x) { return std::sqrt(sphere(x)); }, seed).separable()) << seed;
    EXPECT_FALSE(probed([](const Point&) { return 1.0; }, seed).separable()) << "a constant says nothing";
  }
  // Half of the parameters may change this value by less than rounding shows, as for 3 % of other seeds.
  EXPECT_GE(far, 15);
}

TEST(Probe, takes_a_sum_over_blocks_for_no_sum_over_parameters) {
  const auto pair = [](double a, double b) { return 100 * std::pow(b - a * a, 2) + (1 - a) * (1 - a); };
  const auto three = [&](const Point& x) { return pair(x[0], x[1]) + (x[2] - 1) * (x[2] - 1); };
  const auto two_pairs = [&](const Point& x) { return pair(x[0], x[1]) + pair(x[2], x[3]); };
  const auto walls = [&](const Point& x) { return rosenbrock(x) + std::exp(20 * std::abs(x[0])); };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    EXPECT_FALSE(probed(three, seed, 0, 3).separable()) << seed;
    EXPECT_FALSE(probed(two_pairs, seed, 0, 4).separable()) << seed;
    EXPECT_FALSE(probed(walls, seed, 0, 5).separable()) << seed << ": an interaction may hide in the rounding";
  }
}

TEST(Probe, looks_at_the_first_point_that_succeeded_whenever_that_is_told) {
  const auto space = cube(6, -5, 5);
  automatic::Probe probe(space, 1, Mode::generational);
  EXPECT_FALSE(probe.wants());
  probe.hear(space.start(), Outcome::failure(Status::crashed, ""));
  EXPECT_FALSE(probe.wants()) << "there is nothing to compare with";
  const Point other(6, 2.0);
  probe.hear(other, Outcome::of_value(7));
  std::vector<Candidate> asked;
  EXPECT_EQ(probe.ask(100, asked), 4U);
  EXPECT_EQ(asked[0].x, other);
}

TEST(Probe, sees_noise) {
  EXPECT_EQ(probed(rastrigin, 1).noise(), 0);
  const auto noisy = probed(rastrigin, 1, 0.01);
  EXPECT_NEAR(noisy.noise(), 0.01, 2e-4);
  EXPECT_FALSE(noisy.separable());
  EXPECT_FALSE(probed([](const Point&) { return std::nan(""); }, 1).wants()) << "there is nothing to look at";
}

std::string remark_on(const TestFunction& f, std::size_t parameters, std::size_t budget) {
  const auto optimizer = make_optimizer("auto", cube(parameters, -5, 5), 1);
  std::vector<Candidate> asked;
  for (std::size_t k = 0; k < budget; ++k) {
    asked.clear();
    if (optimizer->ask(1, asked) == 0) break;
    optimizer->tell(asked[0].id, Outcome::of_value(f(asked[0].x)));
  }
  return optimizer->remark();
}

TEST(Auto, solves_smooth_functions_as_quickly_as_descents) {
  EXPECT_LE(median_evaluations({"auto", cube(10, -5, 5), sphere, 1e-10, 5000}, 5), 60U);
  EXPECT_LE(median_evaluations({"auto", cube(5, -5, 5), rosenbrock, 1e-10, 5000}, 5), 600U);
}

TEST(Auto, goes_on_with_descents_where_values_differ_in_their_last_digits) {
  Random random(3);
  for (const double noise : {1e-15, 1e-12, 1e-8, 1e-6}) {
    const auto inexact = [&](const Point& x) { return rosenbrock(x) * (1 + noise * random.normal()); };
    EXPECT_LE(median_evaluations({"auto", cube(5, -5, 5), inexact, 1e-6, 5000}, 5), 600U) << noise;
  }
}

TEST(Auto, solves_a_sum_over_parameters_by_a_search_along_each) {
  EXPECT_LE(median_evaluations({"auto", cube(10, -5, 5), rastrigin, 1e-8, 20000}, 5), 1500U);
  EXPECT_THAT(remark_on(rastrigin, 6, 2000),
              HasSubstr("seems to be a sum over the parameters; brent_step found the best value"));
}

TEST(Auto, solves_a_sum_with_a_parameter_of_many_magnitudes) {
  auto a = real("a", 1e-3, 10);
  a.scale = Scale::log;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto optimizer = make_optimizer("auto", Space{a, real("b", -5, 5), real("c", -5, 5)}, seed);
    double best = 1;
    std::vector<Candidate> batch;
    for (std::size_t told = 0; told < 80; told += batch.size()) {
      batch.clear();
      optimizer->ask(80 - told, batch);
      for (const auto& c : batch) {
        best = std::min(best, sphere(c.x));
        optimizer->tell(c.id, Outcome::of_value(sphere(c.x)));
      }
    }
    EXPECT_LT(best, 1e-3) << seed;
  }
}

TEST(Auto, goes_back_to_descents_where_what_looked_like_a_sum_is_none) {
  const auto walls = [](const Point& x) {  // so steep that an interaction is hidden in rounding at some random points
    double sum = 0;
    for (const double v : x) sum += std::abs(v) > 3 ? std::expm1(9 * std::abs(v)) : 0;
    return rosenbrock(x) + sum;
  };
  for (std::uint64_t seed = 1; seed <= 40; ++seed)
    EXPECT_LE(evaluations_to_target({"auto", cube(5, -5, 5), walls, 1e-6, 5000}, seed), 700U) << seed;
}

TEST(Auto, solves_many_minima_by_the_global_search) {
  // Found by most: the number of restarts until then differs widely. Another set of seeds had a median of 20477.
  EXPECT_LT(median_evaluations({"auto", cube(4, -5, 5), turned_rastrigin, 1e-8, 40000}, 5), 40000U);
  EXPECT_THAT(remark_on(turned_rastrigin, 4, 4000), HasSubstr(", cmaes 2"));
}

TEST(Auto, compares_values_alone_under_noise) {
  Random random(3);
  const auto noisy = [&](const Point& x) { return sphere(x) * (1 + 0.01 * random.normal()); };
  EXPECT_THAT(remark_on(noisy, 5, 1000), HasSubstr("the values are noisy; "));
  EXPECT_LE(median_evaluations({"auto", cube(5, -5, 5), noisy, 1e-6, 10000}, 5), 2000U);
}

/// The remark after 300 evaluations by 16 workers, with ten parameters.
std::string remark_where_durations_are(const std::function<double(Random&)>& duration) {
  const auto optimizer = make_optimizer("auto", cube(10, -5, 5), 1, {}, {.mode = Mode::asynchronous});
  optimizer->resize(16);
  Random random(5);
  std::vector<std::pair<double, Candidate>> running;
  std::vector<Candidate> asked;
  for (double now = 0; optimizer->asked() < 300;) {
    while (running.size() < 16 && optimizer->ask(1, asked = {}) == 1)
      running.emplace_back(now + duration(random), asked[0]);
    const auto next = std::ranges::min_element(running, {}, [](const auto& r) { return r.first; });
    auto outcome = Outcome::of_value(rosenbrock(next->second.x));
    outcome.duration_s = next->first - now;
    now = next->first;
    optimizer->tell(next->second.id, outcome);
    running.erase(next);
  }
  return optimizer->remark();
}

TEST(Auto, begins_the_global_search_at_once_where_durations_differ_much) {
  const auto even = remark_where_durations_are([](Random&) { return 1.0; });
  EXPECT_THAT(even, testing::Not(HasSubstr("cmaes")));
  const auto uneven = remark_where_durations_are([](Random& random) { return std::exp(1.5 * random.normal()); });
  EXPECT_THAT(uneven, HasSubstr("cmaes"));
}

TEST(Auto, is_what_suits_other_spaces) {
  EXPECT_EQ(make_optimizer("auto", cube(2, 0, 1), 1, {}, {{true, 1}})->name(), "lm");
  EXPECT_EQ(make_optimizer("auto", cube(2, 0, 1), 1, {}, {{false, 2}})->name(), "mocma");
  EXPECT_EQ(make_optimizer("auto", Space{integer("n", 1, 9)}, 1, {}, {{false, 1, true}})->name(), "auto");
  EXPECT_EQ(make_optimizer("auto", Space{integer("n", 1, 9)}, 1)->name(), "auto");
  EXPECT_EQ(make_optimizer("auto", cube(2, 0, 1), 1)->name(), "auto");
}

/// Two methods with parameters of their own; the better one is the worse at first, until its two are right together.
Space two_methods() {
  auto slope = real("slope", 1e-4, 1e2, Scale::log), width = integer("width", 1, 40), depth = integer("depth", 1, 40);
  slope.active_when = "method == 'a'";
  width.active_when = depth.active_when = "method == 'b'";
  return {categorical("method", {"a", "b"}), slope, width, depth, real("x", -5, 5)};
}
double cost_of_method(const Point& v) {
  const double common = (v[4] - 1.3) * (v[4] - 1.3);
  if (v[0] == 0) return common + 3 + std::pow(std::log10(v[1]) + 1, 2);
  return common + std::pow(v[2] - 31, 2) / 20 + std::pow(v[2] - v[3] - 9, 2) / 5;
}

TEST(Auto, finds_the_method_and_its_parameters_with_few_evaluations) {
  EXPECT_LE(median_evaluations({"auto", two_methods(), cost_of_method, 1e-2, 700}, 3), 500U);
  EXPECT_GE(median_evaluations({"random", two_methods(), cost_of_method, 1e-2, 2000}, 5), 1000U);
}

TEST(Auto, solves_numbers_of_several_kinds_with_few_evaluations) {
  const Space space{real("x", -5, 5), integer("n", 0, 15), ordinal("size", {1.0, 2.0, 4.0, 8.0}), integer("k", 0, 7),
                    real("y", -5, 5)};
  const auto bowl = [](const Point& v) {
    return std::pow(v[0] - 1.1, 2) + std::pow(v[1] - 11 + v[0], 2) + std::pow(v[2] - 2, 2) + std::pow(v[3] - 3, 2) +
           std::pow(v[4] + 2.2 - v[0], 2);
  };
  EXPECT_LE(median_evaluations({"auto", space, bowl, 0.02, 300}, 3), 250U);
  EXPECT_GE(median_evaluations({"random", space, bowl, 0.02, 2000}, 5), 2000U);
}

/// The integer's steps alone lead nowhere: the valley is curved, and each of them needs all others to move.
TEST(Auto, follows_a_valley_of_reals_and_an_integer) {
  auto parameters = cube(10, -5, 5).parameters();
  parameters[4] = integer("k", -5, 5);
  EXPECT_LT(median_evaluations({"auto", Space(parameters), rosenbrock, 1e-8, 6000}, 3), 3000);  // cmaes: 4500
}

TEST(Auto, says_who_found_the_best_among_all_kinds) {
  const auto optimizer = make_optimizer("auto", two_methods(), 1);
  std::vector<Candidate> asked;
  for (int k = 0; k < 80; ++k) {
    asked.clear();
    optimizer->ask(1, asked);
    optimizer->tell(asked[0].id, Outcome::of_value(cost_of_method(asked[0].x)));
  }
  EXPECT_THAT(optimizer->remark(),
              testing::ContainsRegex("(bayes|de) found the best value; evaluations: bayes [0-9]+, de [0-9]+"));
}

TEST(Auto, candidates_do_not_depend_on_how_many_are_asked_at_a_time) {
  const auto asked_by = [](std::size_t at_once) {
    const auto optimizer = make_optimizer("auto", cube(3, -5, 5), 3);
    std::vector<Point> all;
    std::vector<Candidate> asked;
    while (all.size() < 3000) {
      asked.clear();
      optimizer->ask(at_once, asked);
      for (const auto& c : asked) all.push_back(c.x);
      for (const auto& c : asked) optimizer->tell(c.id, Outcome::of_value(turned_rastrigin(c.x)));
    }
    all.resize(3000);
    return all;
  };
  EXPECT_EQ(asked_by(1), asked_by(100));
}

TEST(Auto, gives_as_many_as_are_wanted_at_a_time) {
  const auto optimizer = make_optimizer("auto", cube(5, -5, 5), 3, {{"parallel", 10}});
  std::vector<Candidate> asked;
  std::size_t least = 1000, told = 0;
  while (told < 5000) {
    asked.clear();
    least = std::min(least, optimizer->ask(1000, asked));
    for (const auto& c : asked) optimizer->tell(c.id, Outcome::of_value(turned_rastrigin(c.x)));
    told += asked.size();
  }
  EXPECT_GE(least, 10U);
}
/// Without generations, `workers` at a time, the oldest told first; the first `failing` evaluations fail.
std::pair<double, std::string> asynchronous(const TestFunction& f, std::size_t workers, std::size_t failing) {
  const auto optimizer = make_optimizer("auto", cube(6, -5, 5), 1, {}, {{}, 0, Mode::asynchronous});
  optimizer->resize(workers);
  std::vector<Candidate> open;
  double best = 1e300;
  for (std::size_t told = 0; told < 6000; ++told) {
    EXPECT_EQ(optimizer->ask(workers - open.size(), open), workers - (told == 0 ? 0 : workers - 1));
    const double value = f(open.front().x);
    if (told >= failing) best = std::min(best, value);
    optimizer->tell(open.front().id, told < failing ? Outcome::failure(Status::failed, "") : Outcome::of_value(value));
    open.erase(open.begin());
  }
  return {best, optimizer->remark()};
}

TEST(AsynchronousAuto, searches_a_sum_along_each_parameter_whatever_the_workers) {
  for (const std::size_t workers : {1, 8, 100}) {
    const auto [best, remark] = asynchronous(rastrigin, workers, 0);
    EXPECT_LT(best, 1e-8) << workers << ": " << remark;
    EXPECT_THAT(remark, HasSubstr("brent_step found the best value")) << workers;
  }
}

TEST(AsynchronousAuto, recovers_from_evaluations_that_fail_at_first) {
  for (const std::size_t workers : {1, 8, 100}) {
    for (const std::size_t failing : {1, 100})
      EXPECT_LT(asynchronous(sphere, workers, failing).first, 1e-8) << workers << ", " << failing << " failed";
  }
}
/// The polynomial of cmaes, beside descents.
TEST(Automatic, hands_out_the_jobs_of_its_members) {
  const auto optimizer = make_optimizer("auto", cube(15, -5, 5), 1, {}, {.mode = Mode::asynchronous});
  optimizer->hand_out_jobs();
  optimizer->resize(60);
  std::vector<Candidate> open;
  int adopted = 0;
  for (int k = 0; k < 3000 && adopted < 2; ++k) {
    optimizer->ask(60 - open.size(), open);
    const auto first = open.front();
    open.erase(open.begin());
    optimizer->tell(first.id, Outcome::of_value(rosenbrock(first.x)));
    const auto job = optimizer->next_job();
    if (!job) continue;
    EXPECT_FALSE(optimizer->next_job());
    optimizer->adopt(job->id, job->work());
    ++adopted;
  }
  EXPECT_EQ(adopted, 2);
}
}  // namespace
}  // namespace culmen
