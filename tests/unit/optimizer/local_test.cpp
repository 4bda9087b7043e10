// Local searches on textbook functions, turn by turn.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/local/axis_search.hpp"
#include "culmen/optimizer/methods/local/fiber.hpp"
#include "culmen/optimizer/methods/local/gradient_search.hpp"
#include "culmen/optimizer/methods/local/line.hpp"
#include "culmen/optimizer/methods/local/nlopt_search.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen::local {
namespace {
using Vector = Eigen::VectorXd;
using Function = std::function<double(const Vector&)>;
using Make = std::function<std::unique_ptr<LocalSearch>(const Start&)>;

constexpr double infinity = std::numeric_limits<double>::infinity();
double square(double x) { return x * x; }

/// On [-2, 2]², minimum 0 at (1, 1).
double rosenbrock(const Vector& u) {
  const double x = 4 * u[0] - 2, y = 4 * u[1] - 2;
  return 100 * square(y - x * x) + square(1 - x);
}

Vector optimum(Eigen::Index n) {
  Vector x(n);
  for (Eigen::Index i = 0; i < n; ++i) x[i] = 0.5 + 0.3 * std::sin(static_cast<double>(i) + 1);
  return x;
}

/// Condition 100, not along the axes (a Householder reflection).
double quadratic(const Vector& u) {
  const Eigen::Index n = u.size();
  Vector d = u - optimum(n);
  const Vector w = Vector::LinSpaced(n, 1, 2).normalized();
  d -= 2 * w.dot(d) * w;
  double f = 0;
  for (Eigen::Index i = 0; i < n; ++i)
    f += std::pow(100, static_cast<double>(i) / std::max<double>(1, static_cast<double>(n - 1))) * square(d[i]);
  return f;
}

double rastrigin(const Vector& u) {
  double f = 0;
  for (Eigen::Index i = 0; i < u.size(); ++i) {
    const double y = 10 * (u[i] - optimum(u.size())[i]);
    f += 10 + y * y - 10 * std::cos(2 * std::numbers::pi * y);
  }
  return f;
}

Start middle(Eigen::Index n) { return {.x = Vector::Constant(n, 0.5), .value = {}}; }
Start classic() { return {.x = Vector{{0.2, 0.75}}, .value = {}}; }  // Rosenbrock's (-1.2, 1)

struct Run {
  double value = infinity;
  Vector x;
  int evaluations = 0, turns = 0;
  bool over = false, inside = true;
};

/// Until the target is reached or the search is over.
Run run(const Make& make, const Start& start, const Function& f, double target, int most_evaluations = 100000) {
  const auto search = make(start);
  Run out;
  std::vector<Vector> points;
  std::vector<double> values;
  while (!search->over() && search->value() > target && out.evaluations < most_evaluations) {
    points.clear();
    values.clear();
    search->propose(points);
    for (const auto& x : points) {
      out.inside &= (x.array() >= 0).all() && (x.array() <= 1).all();
      values.push_back(f(x));
    }
    out.evaluations += static_cast<int>(points.size());
    ++out.turns;
    search->digest(values);
  }
  out.value = search->value();
  out.x = search->x();
  out.over = search->over();
  return out;
}

Make nlopt(NloptMethod method) {
  return [method](const Start& start) { return nlopt_search(method, start); };
}
Make descent(GradientMethod method, int fan = 1) {
  return [method, fan](const Start& start) { return gradient_search(method, start, fan); };
}

struct Case {
  std::string name;
  Make make;
  int rosenbrock;  // evaluations within which it comes to 1e-6
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class EverySearch : public testing::TestWithParam<Case> {};

TEST_P(EverySearch, finds_the_minimum_of_rosenbrock_in_the_usual_number_of_evaluations) {
  const auto found = run(GetParam().make, classic(), rosenbrock, 1e-6);
  EXPECT_LE(found.value, 1e-6);
  EXPECT_LE(found.evaluations, GetParam().rosenbrock);
}

TEST_P(EverySearch, ends_by_itself_at_the_minimum) {
  const auto found = run(GetParam().make, middle(3), quadratic, -1, 50000);
  EXPECT_TRUE(found.over);
  EXPECT_LE(found.value, 1e-9);
}

TEST_P(EverySearch, meets_a_bound_exactly_and_stays_inside) {
  const auto f = [](const Vector& u) { return square(u[0] - 0.3) + 3 * u[1] - u[2] + square(u[0] + u[1]); };
  const auto found = run(GetParam().make, middle(3), f, -infinity, 20000);
  EXPECT_TRUE(found.inside);
  EXPECT_NEAR(found.x[0], 0.15, 1e-3);
  EXPECT_EQ(found.x[1], 0);
  EXPECT_EQ(found.x[2], 1);
}

TEST_P(EverySearch, finds_the_same_place_where_the_value_is_shifted_and_scaled) {
  for (const auto& [shift, factor] : {std::pair{1e6, 1.0}, {0.0, 1e-6}, {-3e3, 1e3}}) {
    const auto f = [&](const Vector& u) { return shift + factor * quadratic(u); };
    const auto found = run(GetParam().make, middle(3), f, -infinity, 50000);
    EXPECT_LE(quadratic(found.x), 1e-6) << shift << " " << factor;
  }
}

TEST_P(EverySearch, turns_back_where_the_evaluation_fails) {
  const auto f = [](const Vector& u) { return u[0] + u[1] < 0.7 ? infinity : quadratic(u); };
  const auto found = run(GetParam().make, {.x = Vector{{0.8, 0.9, 0.6}}, .value = {}}, f, -1, 20000);
  EXPECT_LT(found.value, 0.9 * quadratic(Vector{{0.8, 0.9, 0.6}}));
  EXPECT_TRUE(std::isfinite(found.value));
}

TEST_P(EverySearch, is_over_where_the_start_fails) {
  const auto found = run(
      GetParam().make, middle(3), [](const Vector&) { return std::nan(""); }, -1);
  EXPECT_TRUE(found.over);
  EXPECT_EQ(found.turns, 1);
}

TEST_P(EverySearch, does_not_need_the_value_of_its_start) {
  auto start = classic();
  const auto without = run(GetParam().make, start, rosenbrock, 1e-6);
  start.value = rosenbrock(start.x);
  const auto with = run(GetParam().make, start, rosenbrock, 1e-6);
  EXPECT_EQ(with.x, without.x);
  EXPECT_LT(with.evaluations, without.evaluations);
}

TEST_P(EverySearch, can_be_left_in_the_middle) {
  for (const int most : {0, 1, 20, 60}) run(GetParam().make, classic(), rosenbrock, -1, most);
}

INSTANTIATE_TEST_SUITE_P(All, EverySearch,
                         testing::Values(Case{"slsqp", nlopt(NloptMethod::slsqp), 150},
                                         Case{"bobyqa", nlopt(NloptMethod::bobyqa), 250},
                                         Case{"nelder_mead", nlopt(NloptMethod::nelder_mead), 250},
                                         Case{"sbplx", nlopt(NloptMethod::sbplx), 600},
                                         Case{"steepest", descent(GradientMethod::steepest), 30000},
                                         Case{"conjugate", descent(GradientMethod::conjugate), 500},
                                         Case{"conjugate_fan", descent(GradientMethod::conjugate, 4), 800},
                                         Case{"bfgs", descent(GradientMethod::bfgs), 150}),
                         [](const auto& info) { return info.param.name; });

TEST(ConjugateGradient, solves_a_quadratic_of_d_parameters_in_about_d_line_searches) {
  for (const Eigen::Index n : {2, 5, 10, 20}) {
    int slopes = 0;
    const auto search = gradient_search(GradientMethod::conjugate, middle(n), 1);
    std::vector<Vector> points;
    std::vector<double> values;
    while (!search->over() && search->value() > 1e-8 * quadratic(middle(n).x)) {
      points.clear();
      values.clear();
      search->propose(points);
      for (const auto& x : points) values.push_back(quadratic(x));
      slopes += points.size() > 1;
      search->digest(values);
    }
    EXPECT_LE(slopes, 1 + 1.25 * static_cast<double>(n)) << n;
  }
}

TEST(Bfgs, needs_two_turns_a_step_however_many_parameters) {
  const auto few = run(descent(GradientMethod::bfgs), middle(10), quadratic, 1e-10);
  EXPECT_LE(few.turns, 60);
  EXPECT_LE(few.evaluations, 60 * 11 / 2);
}

/// Median over phases of the noise, because each descent is stopped where noise happens to.
double median_left(const Make& make, double noise) {
  std::vector<double> all;
  for (int phase = 0; phase < 21; ++phase) {
    const auto noisy = [phase](const Vector& u) {
      return (1 + 1e-4 * std::sin(1e9 * u.sum() + phase)) * (1 + quadratic(u));
    };
    auto start = middle(4);
    start.noise = noise;
    all.push_back(quadratic(run(make, start, noisy, -1, 3000).x));
  }
  std::ranges::nth_element(all, all.begin() + 10);
  return all[10];
}

TEST(Differences, are_as_long_as_noise_wants) {
  for (const auto& make :
       {descent(GradientMethod::bfgs), descent(GradientMethod::conjugate), nlopt(NloptMethod::slsqp)}) {
    const double told = median_left(make, 1e-4);
    EXPECT_LE(told, 0.02);
    EXPECT_GT(median_left(make, 2.3e-16), 10 * told);
  }
}

TEST(Line, is_over_where_numbers_are_too_large_for_a_step) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const double slope : {-inf, -1e308, -1e-308}) {
    for (const double first : {inf, 1e300, 1.0, 1e-300}) {
      for (const double value : {-1e308, -1.0, 1e308}) {
        local::Line line(1e307, slope, first, {});
        for (int turn = 0; turn < 20 && !line.over(); ++turn) {
          for (const double step : line.steps()) EXPECT_TRUE(step > 0 && std::isfinite(step));
          line.digest(std::vector(line.steps().size(), value / (turn + 1)));
        }
        EXPECT_TRUE(line.over());
        EXPECT_TRUE(std::isfinite(line.best()));
      }
    }
  }
}

TEST(AFanOfSteps, saves_turns_where_the_first_step_is_far_off) {
  auto start = middle(5);
  start.step = 1e-5;
  const auto one = run(descent(GradientMethod::conjugate, 1), start, quadratic, 1e-6);
  const auto nine = run(descent(GradientMethod::conjugate, 9), start, quadratic, 1e-6);
  EXPECT_LT(nine.turns, one.turns);
}

TEST(BrentStep, solves_a_sum_of_rugged_functions_in_some_tens_of_evaluations_a_parameter) {
  for (const Eigen::Index n : {1, 5, 20}) {
    const auto found = run(axis_search, middle(n), rastrigin, 1e-8, 100000);
    EXPECT_LE(found.value, 1e-8);
    EXPECT_LE(found.evaluations, 100 * n) << n;
  }
}

TEST(BrentStep, is_soon_over_where_parameters_act_together) {
  const auto found = run(axis_search, middle(10), quadratic, 1e-8);
  EXPECT_TRUE(found.over);
  EXPECT_LE(found.evaluations, 100);
}

TEST(BrentStep, does_not_mind_a_constant) {
  const auto shifted = [](const Vector& u) { return rastrigin(u) + 1e6; };
  EXPECT_LE(run(axis_search, middle(5), shifted, 1e6 + 1e-6, 1000).value, 1e6 + 1e-6);
}

TEST(AFiber, goes_back_and_forth) {
  std::vector<int> seen;
  Fiber fiber([&](Fiber& self) {
    for (int k = 0; k < 3 && self.wait(); ++k) seen.push_back(k);
  });
  EXPECT_TRUE(seen.empty());
  while (!fiber.over()) fiber.resume();
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
}

TEST(AFiber, lets_its_body_end_when_it_is_left) {
  const auto witness = std::make_shared<int>(0);
  bool went_on = true;
  {
    Fiber fiber([witness, &went_on](Fiber& self) {
      const auto own = witness;
      while (self.wait()) {
      }
      went_on = false;
    });
    fiber.resume();
    fiber.resume();
  }
  EXPECT_FALSE(went_on);
  EXPECT_EQ(witness.use_count(), 1);
  const Fiber never([witness](Fiber&) { FAIL(); });
}

const Terms asynchronous{.mode = Mode::asynchronous};

TEST(Descents, begin_at_the_start) {
  auto x = real("x", 0, 7);
  x.initial = 0.7;
  const Space space{x, real("y", -3, 4)};
  for (const auto* name : {"bfgs", "bobyqa", "brent_step", "gradient", "slsqp"}) {
    std::vector<Candidate> batch;
    make_optimizer(name, space, 1)->ask(1, batch);
    EXPECT_EQ(batch.at(0).x, space.start()) << name;
  }
}

TEST(Descents, always_have_something_for_an_idle_worker_where_timing_may_decide) {
  for (const auto* name : {"bfgs", "bobyqa", "brent_step", "conjugate_gradient", "nelder_mead", "slsqp"}) {
    const auto optimizer = make_optimizer(name, cube(5, -5, 5), 1, {}, asynchronous);
    EXPECT_FALSE(optimizer->generational());
    optimizer->resize(40);
    std::vector<Candidate> open;
    Random random(3);
    for (int told = 0; told < 4000; ++told) {
      EXPECT_EQ(optimizer->ask(40 - open.size(), open), told == 0 ? 40u : 1u);
      std::swap(open[random.below(open.size())], open.back());
      double value = 0;
      for (const double v : open.back().x) value += square(v - 1);
      optimizer->tell(open.back().id, Outcome::of_value(value));
      open.pop_back();
    }
  }
}

TEST(Descents, go_on_from_many_starts) {
  // Two basins; the start lies in the worse one.
  const auto f = [](const std::vector<double>& x) {
    return std::min(1 + square(x[0] - 1) + square(x[1]), 4 * (square(x[0] + 3) + square(x[1] + 3)));
  };
  for (const auto* name : {"bfgs", "bobyqa", "conjugate_gradient", "gradient", "nelder_mead", "slsqp"}) {
    const Problem problem{name, cube(2, -5, 5), f, 1e-6, 5000};
    EXPECT_LT(median_evaluations(problem, 5), 2500u) << name;
  }
}
TEST(Descents, begin_once_at_the_best_that_they_heard_of_meanwhile) {
  const auto optimizer = make_optimizer("bfgs", cube(2, -5, 5), 1);
  const std::vector<double> best{3.25, -2.5};
  std::size_t near_best = 0, near_others = 0;
  std::vector<Candidate> asked;
  for (int k = 0; k < 400; ++k) {
    if (optimizer->ask(1, asked = {}) == 0) break;
    const auto& x = asked[0].x;
    near_best += std::hypot(x[0] - best[0], x[1] - best[1]) < 1e-3;
    near_others += std::hypot(x[0] + 4, x[1] + 4) < 1e-3 || std::hypot(x[0] - 4, x[1] - 4) < 1e-3;
    optimizer->tell(asked[0].id, Outcome::of_value(x[0] * x[0] + x[1] * x[1]));
    if (k > 0) continue;
    optimizer->hear({-4, -4}, Outcome::of_value(300));
    optimizer->hear(best, Outcome::of_value(200));
    optimizer->hear({4, 4}, Outcome::of_value(250));
  }
  EXPECT_GE(near_best, 2U);
  EXPECT_EQ(near_others, 0U);
}

}  // namespace
}  // namespace culmen::local
