// Everything that defines a study, and how one start of its master runs it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "culmen/broker/rules.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/optimizer/catalogue/choice.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/space/space.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/worker/evaluator.hpp"

namespace culmen {

/// What is to be found: the same configuration gives the same candidates.
struct StudyConfig {
  std::string name = "study";
  Space space;
  Goals goals;
  std::vector<std::vector<double>> starts;  ///< vectors that are evaluated first
  bool evaluate_infeasible = false;         ///< candidates that violate constraints are evaluated too
  EvaluatorSpec evaluator;
  std::string optimizer;      ///< empty: choose_optimizer() decides
  std::string optimizer_why;  ///< where that decided: why, in a few words
  OptimizerOptions optimizer_options;
  std::optional<bool> generational;  ///< see Terms; where it is not given, settle_mode() decides
  std::uint64_t seed = 1;
  StopRules stop;
  FailurePolicy failures;
  std::string configuration;  ///< kept in the store; what resume starts from
  std::string fingerprint;    ///< of what decides the candidates and their values; a store with another one is refused
  std::string evaluator_identity;  ///< what the fingerprint takes for the evaluator

  /// As StopRules::each_setting; those of `stop`, `failures` and `evaluator` are left out.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("name", &StudyConfig::name);
    visit("seed", &StudyConfig::seed);
    visit("evaluate_infeasible", &StudyConfig::evaluate_infeasible);
    visit("generational", &StudyConfig::generational);
  }
};

enum class Place : unsigned char {
  automatic,  ///< mpi in a rank of an MPI launch, else threads
  threads,    ///< of the master; isolated evaluators have a child process each
  processes,  ///< native worker processes
  mpi,        ///< the ranks but the first
};

class LentWorkers;

/// How it is run; none of this changes the candidates of a generational optimizer.
struct RunOptions {
  std::size_t workers = 0;  ///< 0: one per usable CPU. mpi: the ranks decide
  Place place = Place::automatic;
  std::shared_ptr<LentWorkers> lent;  ///< they evaluate, wherever this process is
  bool prefetch = true;
  std::string store;    ///< the study's file; empty: no journal
  bool resume = false;  ///< go on with the store instead of making it
  Durability durability = Durability::process;

  /// As StopRules::each_setting.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("workers", &RunOptions::workers);
    visit("prefetch", &RunOptions::prefetch);
    visit("durability", &RunOptions::durability);
  }
};

/// What a run came to, as every rank of a launch gets it.
struct StudyResult : EngineResult {
  double wall_s = 0;
  std::uint32_t workers = 0;
  std::string store;
  Goals goals;  ///< how its values are to be read
  std::string optimizer, optimizer_why;
  bool generational = true;
};

Bytes encode(const StudyResult& result);
StudyResult decode_result(BytesView in);

Yield yield_of(const StudyConfig& config);
/// Sets the optimizer where it is empty or "auto", and why. Throws InputError as chosen_optimizer() does.
void choose_optimizer(StudyConfig& config);
/// Sets `generational`, and the fingerprint with it, where it is not given: as the store with the fingerprint `begun`
/// was begun, unless that is empty or another study's. Else the study is asynchronous where culmen has chosen what
/// searches, that is good at any time, and there are at least four workers; of real parameters only where these are
/// more than 2 (n + 1), or the budget is at least 100 n evaluations for each of them, or there is no budget.
void settle_mode(StudyConfig& config, std::size_t workers, const std::string& begun = {});
/// Whether the first candidate is the space's start, or what is in the middle where it has none.
bool begins_at_start(const StudyConfig& config);
/// Throws InputError for an optimizer or an option that there is not, and one that cannot work on this.
void check_optimizer(const StudyConfig& config);

/// Of what decides the candidates and their values (space, evaluator_identity, kind of result, optimizer, its options,
/// seed, mode: generational unless it says otherwise), not of stop rules: 16 hex digits of FNV-1a over a text with a
/// line a parameter. Stores outlive builds: what comes to these later is written only where it is not the default, so
/// that older studies keep theirs.
std::string fingerprint_of(const StudyConfig& config);
/// The optimizer of a study that begins with so many evaluations (0: no limit), with its starts and constraints.
/// Throws InputError for what it cannot do.
std::unique_ptr<Optimizer> make_search(const StudyConfig& config, std::uint64_t evaluations);
/// As in "0.1.0".
std::string version();
/// Version and compiler.
std::string build_description();
/// CPUs this process may run on.
std::size_t usable_cpus();

}  // namespace culmen
