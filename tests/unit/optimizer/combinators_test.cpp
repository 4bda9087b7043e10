#include "culmen/optimizer/combine/combinators.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "culmen/base/error.hpp"
#include "modelled.hpp"

namespace culmen {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Space half() { return Space({real("x", -1, 1), real("y", -1, 1)}, {{"half", "x + y >= 1"}}); }

std::vector<Candidate> asked(Optimizer& optimizer, std::size_t n) {
  std::vector<Candidate> out;
  optimizer.ask(n, out);
  return out;
}

class Combinators : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Optimizers, Combinators, testing::Values("cmaes", "evolution", "random", "sobol"));

TEST_P(Combinators, nothing_infeasible_is_given_and_the_optimum_on_the_constraint_is_found) {
  const auto space = half();
  const auto optimizer = make_search({GetParam(), {}, 7, {}}, space);
  double best = INFINITY;
  for (int k = 0; k < 400; ++k) {
    for (const auto& c : asked(*optimizer, 4)) {
      EXPECT_TRUE(space.feasible(c.x));
      const double value = c.x[0] * c.x[0] + c.x[1] * c.x[1];
      best = std::min(best, value);
      optimizer->tell(c.id, Outcome::of_value(value));
    }
  }
  EXPECT_LT(best, std::string(GetParam()) == "cmaes" ? 0.5 + 1e-6 : 0.6);
}

TEST_P(Combinators, the_sequence_does_not_depend_on_how_many_are_asked_at_a_time) {
  const auto run = [](std::size_t at_a_time) {
    const auto optimizer = make_search({GetParam(), {}, 3, {{0.5, 0.75}}}, half());
    std::vector<std::vector<double>> seen;
    while (seen.size() < 200) {
      const auto candidates = asked(*optimizer, at_a_time);
      for (const auto& c : candidates) seen.push_back(c.x);
      for (const auto& c : candidates) optimizer->tell(c.id, Outcome::of_value(c.x[0] * c.x[1]));
    }
    seen.resize(200);
    return seen;
  };
  EXPECT_EQ(run(1), run(5));
}

/// Gives -1, then 1, by turns, and remembers what it is told.
class Turns final : public Optimizer {
 public:
  Turns(Mode mode, std::vector<EvaluationId>& told) : mode_(mode), told_(told) {}
  Mode mode() const override { return mode_; }
  std::string name() const override { return "turns"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (; n > 0; --n) out.push_back({0, {given_++ % 2 == 0 ? -1.0 : 1.0}});
  }
  void do_tell(EvaluationId id, const Outcome&) override { told_.push_back(id); }
  void do_cancel(EvaluationId) override {}
  const Mode mode_;
  std::vector<EvaluationId>& told_;
  int given_ = 0;
};

TEST(FeasibleOnly, tells_what_is_infeasible_when_all_before_it_is_told_or_at_once) {
  const Space positive({real("x", -1, 1)}, {{"positive", "x >= 0"}});
  for (const auto mode : {Mode::generational, Mode::asynchronous}) {
    std::vector<EvaluationId> told;
    const auto optimizer = feasible_only(std::make_unique<Turns>(mode, told), positive);
    asked(*optimizer, 3);  // 1, 3 and 5 of the inner ones
    EXPECT_EQ(told, mode == Mode::generational ? (std::vector<EvaluationId>{0}) : (std::vector<EvaluationId>{0, 2, 4}));
    optimizer->tell(1, Outcome::of_value(1));
    optimizer->cancel(0);
    EXPECT_EQ(told, mode == Mode::generational ? (std::vector<EvaluationId>{0, 3, 2, 4})
                                               : (std::vector<EvaluationId>{0, 2, 4, 3}));
  }
}

TEST(Search, starts_come_first) {
  auto parameters = half().parameters();
  parameters[0].initial = 0.9;
  const Space space(parameters, {{"half", "x + y >= 0.5"}});
  const auto optimizer = make_search({"random", {}, 1, {{0.5, 0.5}, {1, 1}}}, space);
  const auto first = asked(*optimizer, 4);
  EXPECT_THAT(first[0].x, ElementsAre(0.9, 0));
  EXPECT_THAT(first[1].x, ElementsAre(0.5, 0.5));
  EXPECT_THAT(first[2].x, ElementsAre(1, 1));
  for (const auto& c : first) optimizer->tell(c.id, Outcome::of_value(1));
  EXPECT_EQ(optimizer->open(), 0U);
}

TEST(Search, cmaes_begins_around_the_initial_values) {
  auto x = real("x", 0, 100);
  x.initial = 2;
  const auto optimizer = make_search({"cmaes", {{"sigma", 1e-4}}, 1, {}}, Space{x, real("y", 0, 1)});
  for (const auto& c : asked(*optimizer, 6)) {
    EXPECT_NEAR(c.x[0], 2, 0.2);
    EXPECT_NEAR(c.x[1], 0.5, 0.01);
    optimizer->tell(c.id, Outcome::of_value(1));
  }
}

TEST(Search, cmaes_goes_on_from_a_start) {
  const Space space{real("x", -1000, 1000), real("y", -1000, 1000)};
  const auto optimizer = make_search({"cmaes", {{"sigma", 1e-4}}, 1, {{700, -300}}}, space);
  for (const auto& c : asked(*optimizer, 7)) {
    EXPECT_NEAR(c.x[0], 700, 2);
    EXPECT_NEAR(c.x[1], -300, 2);
    optimizer->tell(c.id, Outcome::of_value(1));
  }
}

TEST(Search, a_grid_goes_past_what_is_infeasible) {
  const Space space({real("x", 0, 1), real("y", 0, 1)}, {{"right", "x >= 0.9"}});
  const auto optimizer = make_search({"grid", {{"points", 500}, {"order", std::string("rows")}}, 1, {}}, space);
  EXPECT_GE(asked(*optimizer, 1).at(0).x[0], 0.9);
}

TEST(Search, a_start_that_violates_a_constraint_is_refused) {
  try {
    make_search({"random", {}, 1, {{-0.5, 0}}}, half());
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "the start x = -0.5, y = 0 violates the constraints; change the start or the constraints");
  }
  EXPECT_NO_THROW(make_search({"random", {}, 1, {{-0.5, 0}}, true}, half()));
}

TEST(Search, constraints_that_nothing_fulfils_end_with_a_sentence) {
  const Space space({real("x", 0, 1)}, {{"never", "x > 2"}});
  const auto optimizer = make_search({"random", {}, 1, {}}, space);
  try {
    asked(*optimizer, 1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("candidates in a row violate the constraints ('never')"));
  }
}

TEST(InnerJobs, of_a_wrapped_optimizer_are_handed_out) {
  const Space most({real("x", -1, 1), real("y", -1, 1)}, {{"most", "x + y <= 0.5"}});
  const auto make = [&] {
    auto inner = feasible_only(std::make_unique<Modelled>(most, 3), most);
    return starting_with(std::move(inner), {{0, 0}, {-0.5, 0.5}});
  };
  const auto alone = make(), beside = make();
  beside->hand_out_jobs();
  std::vector<std::vector<double>> expected, found;
  while (expected.size() < 40) {
    for (const auto& c : asked(*alone, 1)) {
      expected.push_back(c.x);
      alone->tell(c.id, Outcome::of_value(c.x[0]));
    }
  }
  int jobs = 0;
  while (found.size() < 40) {
    if (const auto job = beside->next_job()) ++jobs, beside->adopt(job->id, job->work());
    for (const auto& c : asked(*beside, 1)) {
      found.push_back(c.x);
      beside->tell(c.id, Outcome::of_value(c.x[0]));
    }
  }
  EXPECT_EQ(found, expected);
  EXPECT_GT(jobs, 4);
}

}  // namespace
}  // namespace culmen
