#include "culmen/study/config/fingerprint.hpp"

#include <gtest/gtest.h>

namespace culmen {
namespace {

// Stores outlive builds: these fingerprints are in stores of earlier versions, and must never change.
struct Stored {
  const char* name;
  const char* evaluator;
  ResultKind result;
  const char* fingerprint;
  void (*change)(StudyConfig&) = nullptr;
};

StudyConfig config_of(const Stored& stored) {
  StudyConfig config;
  config.space = {real("x", -5, 5), integer("n", 1, 9)};
  config.optimizer = "random";
  config.seed = 7;
  config.evaluator_identity = stored.evaluator;
  config.evaluator.result = stored.result;
  if (stored.change != nullptr) stored.change(config);
  return config;
}

StudyConfig fit_of(Edition edition) {
  StudyConfig config;
  config.space = {real("x", -5, 5)};
  config.optimizer = "lm";
  config.optimizer_options = {{"agreement", 8.0}};
  config.evaluator_identity = "function";
  config.evaluator.result = ResultKind::residuals;
  config.edition = edition;
  return config;
}

const std::vector<Stored> all_stored{
    {"function", "function", ResultKind::value, "46dca2cdd07f6fa9"},
    {"python", R"(["python", "model.py:chi2"])", ResultKind::residuals, "41c7348af6180208"},
    {"library", R"(["library", "lib.so:f"])", ResultKind::value, "91c1d34758873bf5"},
    {"command", R"(["command", ["./run", "{x}"]])", ResultKind::figures, "1fe43a3cff3f21c0"},
    {"items", "items", ResultKind::value, "5dd85b183dddadb1"},
    {"generational", "function", ResultKind::value, "46dca2cdd07f6fa9",
     [](StudyConfig& c) { c.mode = mode_of_user(true); }},
    {"asynchronous", "function", ResultKind::value, "9afe36fbc27a91f5",
     [](StudyConfig& c) { c.mode = mode_of_user(false); }},
    {"infeasible", "function", ResultKind::value, "fbbd6646c0b0050d",
     [](StudyConfig& c) { c.evaluate_infeasible = true; }},
    {"start", "function", ResultKind::value, "8d57abd4e34dff6e",
     [](StudyConfig& c) {
       c.starts = {{0.5, 2}};
     }},
    {"goals", "function", ResultKind::value, "3a5116cb6cb1fcbb",
     [](StudyConfig& c) {
       c.goals = {{{"a", Direction::minimize}, {"b", Direction::maximize}}, {{"c", 0, 1}}};
     }},
    {"options", "function", ResultKind::value, "1fb0b1043b70668c",
     [](StudyConfig& c) {
       c.optimizer = "cmaes";
       c.optimizer_options = {{"population", 20.0}, {"sigma", 0.5}};
     }},
    {"first edition", "function", ResultKind::residuals, "43a7e226b3f56f63",
     [](StudyConfig& c) { c = fit_of(Edition::first); }},
};

TEST(Fingerprint, of_each_kind_of_study_is_that_of_earlier_versions) {
  for (const auto& stored : all_stored) EXPECT_EQ(fingerprint_of(config_of(stored)), stored.fingerprint) << stored.name;
}

TEST(Fingerprint, does_not_depend_on_stop_rules_and_failures) {
  auto config = config_of(all_stored[0]);
  config.stop.evaluations = 17;
  config.failures.retries = 5;
  config.name = "another";
  EXPECT_EQ(fingerprint_of(config), all_stored[0].fingerprint);
}

TEST(Fingerprint, tells_editions_apart_only_of_optimizers_that_changed) {
  EXPECT_NE(fingerprint_of(fit_of(Edition::first)), fingerprint_of(fit_of(Edition::second)));
  for (const auto& stored : all_stored) {
    auto config = config_of(stored);
    if (config.optimizer == "lm") continue;
    config.edition = Edition::first;
    EXPECT_EQ(fingerprint_of(config), stored.fingerprint) << stored.name;
  }
  auto chain = fit_of(Edition::second), former = fit_of(Edition::first);
  for (auto* config : {&chain, &former}) config->optimizer = "random,lm", config->optimizer_options = {};
  EXPECT_NE(fingerprint_of(chain), fingerprint_of(former));
}

TEST(Fingerprint, does_not_depend_on_an_option_that_only_ends_the_search) {
  auto fit = fit_of(Edition::second), former = fit_of(Edition::first);
  const auto same = fingerprint_of(fit), other = fingerprint_of(former);
  for (auto* config : {&fit, &former}) config->optimizer_options = {{"agreement", 0.0}};
  EXPECT_EQ(fingerprint_of(fit), same);
  EXPECT_NE(fingerprint_of(former), other) << "as in stores of the first edition";
}

}  // namespace
}  // namespace culmen
