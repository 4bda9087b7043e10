#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/mode.hpp"
#include "culmen/study/config/search.hpp"
#include "culmen/study/crew/cpus.hpp"
#include "culmen/study/run/culmen.hpp"
#include "culmen/study/run/run.hpp"

namespace culmen {
namespace {

namespace fs = std::filesystem;

StudyConfig study_of(std::string optimizer, Space space = {real("x", -1, 1), real("y", -1, 1)},
                     ResultKind result = ResultKind::value) {
  StudyConfig config;
  config.evaluator.result = result;
  config.space = std::move(space);
  config.optimizer = std::move(optimizer);
  choose_optimizer(config);
  config.fingerprint = fingerprint_of(config);
  return config;
}

bool settled(StudyConfig config, std::size_t workers, const std::string& begun = {}) {
  const auto decision = decide_mode(config, workers, begun);
  settle_mode(config, workers, begun);
  EXPECT_EQ(config.mode, decision);
  EXPECT_EQ(config.fingerprint, fingerprint_of(config));
  settle_mode(config, 1, begun);
  EXPECT_EQ(config.mode, decision) << "it is made once";
  return decision.mode == Mode::generational;
}

TEST(Mode, has_a_reason) {
  const auto reason = [](const StudyConfig& config, std::size_t workers, const std::string& begun = {}) {
    return decide_mode(config, workers, begun).reason;
  };
  const auto open = study_of("auto");
  auto brief = open, said = open;
  brief.stop.evaluations = 50;
  said.mode = mode_of_user(true);
  const auto residuals = study_of("auto", Space{real("x", -1, 1)}, ResultKind::residuals);
  EXPECT_EQ(reason(said, 8, open.fingerprint), ModeReason::user);
  EXPECT_EQ(reason(open, 8, open.fingerprint), ModeReason::store);
  EXPECT_EQ(reason(study_of("cmaes"), 8), ModeReason::named_optimizer);
  EXPECT_EQ(reason(residuals, 8), ModeReason::optimizer);
  EXPECT_EQ(reason(open, 3), ModeReason::few_workers);
  EXPECT_EQ(reason(brief, 4), ModeReason::short_budget);
  EXPECT_EQ(reason(open, 4), ModeReason::many_workers);
  std::set<std::string> texts;
  for (auto each = ModeReason::user; each <= ModeReason::many_workers;
       each = static_cast<ModeReason>(static_cast<int>(each) + 1))
    texts.insert(to_string(each));
  EXPECT_EQ(texts.size(), 7U);
  EXPECT_FALSE(texts.contains(""));
  EXPECT_EQ(to_string(ModeReason::many_workers), "4 or more workers");
}

TEST(Mode, is_asynchronous_where_auto_searches_and_has_several_workers) {
  for (const std::string name : {"", "auto"}) {
    EXPECT_FALSE(settled(study_of(name), 4));
    EXPECT_TRUE(settled(study_of(name), 3));
    EXPECT_TRUE(settled(study_of(name, Space{real("x", -1, 1)}, ResultKind::residuals), 8)) << "lm runs in its place";
  }
  auto two = study_of("random");
  two.optimizer.clear();
  two.goals.objectives.resize(2);
  choose_optimizer(two);
  two.fingerprint = fingerprint_of(two);
  EXPECT_EQ(two.optimizer, "mocma");
  EXPECT_FALSE(settled(two, 4));
  two.optimizer_is_chosen = false;
  EXPECT_TRUE(settled(two, 4)) << "the user has named it";
  for (const auto* name : {"cmaes", "de", "random", "auto,cmaes"}) EXPECT_TRUE(settled(study_of(name), 100)) << name;
}

TEST(Mode, keeps_generations_where_a_budget_is_short_and_few_workers_would_be_idle) {
  auto config = study_of("auto");
  config.stop.evaluations = 799;
  EXPECT_TRUE(settled(config, 4));
  EXPECT_TRUE(settled(config, 6));
  EXPECT_FALSE(settled(config, 7)) << "a generation is of three evaluations";
  config.stop.evaluations = 800;
  EXPECT_FALSE(settled(config, 4));
  auto mixed = study_of("auto", {real("x", -1, 1), boolean("on")});
  mixed.stop.evaluations = 50;
  EXPECT_FALSE(settled(mixed, 4)) << "a model is as good without generations";
}

TEST(Mode, is_what_the_user_says_before_all_else) {
  for (const bool wanted : {true, false}) {
    auto config = study_of("auto");
    config.mode = mode_of_user(wanted);
    config.fingerprint = fingerprint_of(config);
    for (const std::size_t workers : {1, 8}) EXPECT_EQ(settled(config, workers), wanted);
  }
}

TEST(Mode, stays_that_of_the_store_whatever_the_workers) {
  const auto open = study_of("auto");
  for (const bool begun_generational : {true, false}) {
    auto begun = open;
    begun.mode = mode_of_user(begun_generational);
    for (const std::size_t workers : {1, 8})
      EXPECT_EQ(settled(open, workers, fingerprint_of(begun)), begun_generational);
  }
  EXPECT_FALSE(settled(open, 8, fingerprint_of(study_of("random")))) << "another study's store says nothing";
}

TEST(Mode, a_store_from_before_the_choice_goes_on_in_generations) {
  // Such a study had the same text as one that is generational now.
  auto before = study_of("auto");
  before.mode = mode_of_user(true);
  EXPECT_EQ(fingerprint_of(study_of("auto")), fingerprint_of(before));
}

TEST(Mode, of_a_programs_study_is_in_its_result_and_its_store) {
  auto pattern = (fs::temp_directory_path() / "culmen-mode-XXXXXX").string();
  const std::string folder = mkdtemp(pattern.data());
  const auto f = [](const std::vector<double>& x) { return x[0] * x[0] + x[1] * x[1]; };
  const Space space{real("x", -1, 2), real("y", -1, 2)};
  MinimizeOptions options{.evaluations = 30, .workers = 8, .store = folder + "/a.db"};
  EXPECT_FALSE(minimize(f, space, options).generational);
  options.resume = true;
  options.workers = 1;
  options.evaluations = 60;
  const auto resumed = minimize(f, space, options);
  EXPECT_FALSE(resumed.generational);
  EXPECT_EQ(resumed.evaluations, 60U);
  EXPECT_TRUE(minimize(f, space, {.evaluations = 30, .workers = 8, .generational = true}).generational);
  EXPECT_TRUE(minimize(f, space, {.evaluations = 30, .workers = 8, .optimizer = "cmaes"}).generational);
  EXPECT_TRUE(minimize(f, space, {.evaluations = 30, .workers = 3}).generational);
  fs::remove_all(folder);
}

TEST(Mode, of_a_run_follows_the_workers_that_it_is_going_to_have) {
  RunOptions options;
  options.place = "threads";
  options.workers = 3;
  EXPECT_EQ(workers_of(options), 3U);
  options.workers = 0;
  EXPECT_EQ(workers_of(options), usable_cpus());
}

}  // namespace
}  // namespace culmen
