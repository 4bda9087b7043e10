// Everything that defines a study.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "culmen/broker/rules.hpp"
#include "culmen/evaluation/goals.hpp"
#include "culmen/optimizer/core/options.hpp"
#include "culmen/optimizer/core/terms.hpp"
#include "culmen/space/space.hpp"
#include "culmen/study/config/mode.hpp"
#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// The question that a study answers: the same configuration gives the same candidates.
struct StudyConfig {
  std::string name = "study";
  Space space;
  Goals goals;
  std::vector<std::vector<double>> starts;  ///< vectors that are evaluated first
  bool evaluate_infeasible = false;         ///< candidates that violate constraints are evaluated too
  EvaluatorSpec evaluator;
  std::string optimizer;             ///< empty: choose_optimizer() decides
  bool optimizer_is_chosen = false;  ///< by choose_optimizer()
  std::string optimizer_why;         ///< for people: why it was chosen
  OptimizerOptions optimizer_options;
  std::optional<ModeDecision> mode;  ///< the user's, or that of settle_mode()
  Edition edition = newest_edition;  ///< of the optimizers; that of the store decides
  std::uint64_t seed = 1;
  StopRules stop;
  /// The optimizer plans for this number, even if the run ends before. 0: it knows no number; empty: stop's limit.
  std::optional<std::uint64_t> planned_evaluations;
  FailurePolicy failures;
  std::string configuration;       ///< kept in the store, for resume
  std::string fingerprint;         ///< see fingerprint_of()
  std::string evaluator_identity;  ///< stands for the evaluator in the fingerprint

  std::uint64_t plan() const { return planned_evaluations.value_or(stop.evaluations); }

  /// As StopRules::each_setting; `stop`, `failures` and `evaluator` have their own.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("name", &StudyConfig::name);
    visit("seed", &StudyConfig::seed);
    visit("evaluate_infeasible", &StudyConfig::evaluate_infeasible);
    visit("planned_evaluations", &StudyConfig::planned_evaluations);
  }
};

}  // namespace culmen
