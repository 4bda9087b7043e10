#include "culmen/optimizer/combine/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/combine/combinators.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

double sphere(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += (v - 1) * (v - 1);
  return sum;
}

/// Asks `at_once` at a time and tells them, `evaluations` in all.
std::vector<std::vector<double>> asked_by(Optimizer& optimizer, std::size_t at_once, std::size_t evaluations) {
  std::vector<std::vector<double>> all;
  std::vector<Candidate> asked;
  while (all.size() < evaluations) {
    asked.clear();
    if (optimizer.ask(std::min(at_once, evaluations - all.size()), asked) == 0) break;
    for (const auto& c : asked) all.push_back(c.x);
    for (const auto& c : asked) optimizer.tell(c.id, Outcome::of_value(sphere(c.x)));
  }
  return all;
}

std::string refusal(const std::string& name, const OptimizerOptions& options) {
  try {
    make_optimizer(name, cube(2, -5, 5), 1, options);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Chain, is_named_by_its_links) {
  EXPECT_THAT(links_of("random, cmaes ,lm"), ElementsAre("random", "cmaes", "lm"));
  EXPECT_EQ(make_optimizer("random, cmaes", cube(2, -5, 5), 1)->name(), "random,cmaes");
}

TEST(Chain, gives_each_link_its_share_of_the_evaluations) {
  const auto chain = make_optimizer("random,sobol,random", cube(2, -5, 5), 7, {}, {.evaluations = 30});
  const auto alone = make_optimizer("random", cube(2, -5, 5), 7);
  const auto all = asked_by(*chain, 4, 30), first = asked_by(*alone, 4, 10);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
  const auto sobol = asked_by(*make_optimizer("sobol", cube(2, -5, 5), 8), 4, 10);
  EXPECT_TRUE(std::equal(sobol.begin(), sobol.end(), all.begin() + 10));
}

TEST(Chain, an_option_says_a_links_share) {
  const OptimizerOptions options{{"random.evaluations", 3}};
  const auto chain = make_optimizer("random,sobol", cube(2, -5, 5), 7, options, {.evaluations = 30});
  const auto all = asked_by(*chain, 30, 6);
  EXPECT_EQ(all[3], asked_by(*make_optimizer("sobol", cube(2, -5, 5), 8), 1, 1)[0]);
}

TEST(Chain, hands_the_best_on) {
  const OptimizerOptions options{{"random.evaluations", 200}, {"cmaes.sigma", 1e-6}};
  const auto chain = make_optimizer("random,cmaes", cube(2, -5, 5), 7, options);
  const auto all = asked_by(*chain, 10, 201);
  const auto best = *std::ranges::min_element(all.begin(), all.begin() + 200, {}, sphere);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(all[200][i], best[i], 1e-3);
}

TEST(Chain, without_an_end_a_link_ends_when_nothing_gets_better) {
  const auto chain = make_optimizer("cmaes,sobol", cube(2, -5, 5), 7);
  const auto all = asked_by(*chain, 10, 20000);
  const auto sobol = asked_by(*make_optimizer("sobol", cube(2, -5, 5), 8), 1, 1)[0];
  EXPECT_THAT(all, testing::Contains(sobol));
  EXPECT_THAT(chain->remark(), HasSubstr("reached sobol, optimizer 2 of 2"));
}

TEST(Chain, without_generations_a_link_goes_on_until_its_results_say_that_it_is_done) {
  const auto chain = make_optimizer("evolution,cmaes", cube(2, -5, 5), 1, {}, {.mode = Mode::asynchronous});
  std::vector<Candidate> open;
  chain->ask(400, open);
  EXPECT_THAT(chain->remark(), HasSubstr("reached evolution")) << "nothing was told";
  for (std::size_t told = 0; told < 301; ++told) chain->tell(open[told].id, Outcome::of_value(1));
  std::vector<Candidate> more;
  chain->ask(1, more);
  EXPECT_THAT(chain->remark(), HasSubstr("reached cmaes")) << "300 results brought nothing better";
}

TEST(Chain, candidates_do_not_depend_on_how_many_are_asked_at_a_time) {
  const auto make = [] { return make_optimizer("evolution,cmaes", cube(3, -5, 5), 3, {}, {.evaluations = 400}); };
  EXPECT_EQ(asked_by(*make(), 1, 400), asked_by(*make(), 64, 400));
}

TEST(Chain, goes_on_when_a_link_has_finished) {
  const auto chain = make_optimizer("grid,random", cube(2, 0, 1), 3, {{"grid.points", 3}}, {.evaluations = 100});
  EXPECT_EQ(asked_by(*chain, 7, 100).size(), 100U);
}

TEST(Chain, without_generations_a_link_that_ends_by_itself_is_not_waited_for) {
  const auto chain = make_optimizer("grid,cmaes", cube(2, 0, 1), 3, {{"grid.points", 3}}, {.mode = Mode::asynchronous});
  std::vector<Candidate> open, more;
  EXPECT_EQ(chain->ask(12, open), 9U) << "and nothing is known to go on from";
  chain->tell(open[3].id, Outcome::of_value(1));
  EXPECT_EQ(chain->ask(5, more), 5U);
  EXPECT_THAT(chain->remark(), HasSubstr("reached cmaes"));
}

/// A link that ended, and the best of which what came late is.
TEST(Chain, the_next_link_hears_of_what_comes_late) {
  const auto last_of = [](double late) {
    const auto chain = make_optimizer("grid,de", cube(2, 0, 1), 3, {{"grid.points", 3}}, {.mode = Mode::asynchronous});
    std::vector<Candidate> open, more;
    chain->ask(9, open);
    chain->tell(open[3].id, Outcome::of_value(1));
    chain->ask(1, more);
    chain->tell(open[0].id, Outcome::of_value(late));
    std::vector<std::vector<double>> all;
    for (int k = 0; k < 300; ++k) {
      all.push_back(more[0].x);
      chain->tell(more[0].id, Outcome::of_value(2));
      chain->ask(1, more = {});
    }
    return all;
  };
  EXPECT_NE(last_of(0.1), last_of(3));
}

TEST(Chain, only_what_fulfils_the_constraints_counts) {
  const Space space(cube(2, 0, 1).parameters(), {{"corner", "x0 + x1 <= 0.2"}});
  for (const auto mode : {Mode::generational, Mode::asynchronous}) {
    Search search{.optimizer = "random,sobol", .options = {{"random.evaluations", 50}}};
    search.terms.mode = mode;
    const auto chain = make_search(search, space);
    for (const auto& x : asked_by(*chain, 1, 50)) EXPECT_LE(x[0] + x[1], 0.2);
    EXPECT_THAT(chain->remark(), HasSubstr("reached random"));
    asked_by(*chain, 1, 1);
    EXPECT_THAT(chain->remark(), HasSubstr("reached sobol"));
  }
}

TEST(Chain, gives_the_start_once_where_there_are_constraints) {
  auto parameters = cube(2, 0, 1).parameters();
  for (auto& p : parameters) p.initial = 0.05;
  const Space space(parameters, {{"corner", "x0 + x1 <= 0.2"}});
  const auto all = asked_by(*make_search({.optimizer = "bfgs,random"}, space), 1, 20);
  EXPECT_EQ(std::ranges::count(all, std::vector{0.05, 0.05}), 1);
}

TEST(Chain, what_is_late_may_also_be_cancelled) {
  const auto chain = make_optimizer("grid,cmaes", cube(2, 0, 1), 3, {{"grid.points", 3}}, {.mode = Mode::asynchronous});
  std::vector<Candidate> open, more;
  chain->ask(9, open);
  chain->tell(open[3].id, Outcome::of_value(1));
  chain->ask(5, more);
  for (const auto& c : open)
    if (c.id != open[3].id) chain->cancel(c.id);
  EXPECT_EQ(chain->open(), 5U);
  EXPECT_EQ(asked_by(*chain, 5, 100).size(), 100U);
}

TEST(Chain, says_what_is_wrong_with_an_option) {
  EXPECT_EQ(
      refusal("random,cmaes", {{"sigma", 0.1}}),
      "optimizer 'random,cmaes': option 'sigma' must begin with the name of its optimizer; write it as 'cmaes.sigma'");
  EXPECT_THAT(
      refusal("random,cmaes", {{"cmase.sigma", 0.1}}),
      HasSubstr(
          "option 'cmase.sigma' names no optimizer of this chain (did you mean 'cmaes'?); write it as 'cmaes.sigma'"));
  EXPECT_EQ(refusal("random,cmaes", {{"cmaes.evaluations", 0}}),
            "optimizer 'cmaes': option 'evaluations' is 0, it must be a whole number from 1 to 1e15");
  EXPECT_THAT(refusal("random,cmase", {}), HasSubstr("there is no optimizer 'cmase'"));
  EXPECT_THAT(refusal("random,", {}), HasSubstr("there is no optimizer ''"));
}
}  // namespace
}  // namespace culmen
