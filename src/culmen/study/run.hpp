// One start of a study's master: puts optimizer, store, workers and engine together.
#pragma once
#include <memory>

#include "culmen/engine/engine.hpp"
#include "culmen/study/config/result.hpp"
#include "culmen/study/config/study_config.hpp"
#include "culmen/study/run_options.hpp"

namespace culmen {

/// How many evaluations at a time such a run is going to have: known before there are any workers.
std::size_t workers_of(const RunOptions& options);

/// prepare() and conclude() belong to one thread (MPI's); execute() may run on another.
class Run {
 public:
  /// `function` for EvaluatorKind::function.
  Run(StudyConfig config, RunOptions options, Function function = {});
  /// Of a source of the caller's own, which ends the run; `config` says only how its candidates are evaluated.
  Run(StudyConfig config, RunOptions options, std::shared_ptr<Source> source);
  ~Run();
  /// Checks the input, opens the store, starts the workers. Throws InputError, StoreError or TransportError; nothing is
  /// left behind then, and waiting ranks were let go.
  void prepare();
  /// Replays the store, then runs to the end. Never throws: whatever goes wrong is the result's reason and message.
  void execute();
  /// After execute(): why it ended, one sentence.
  std::string message() const;
  /// Lets the workers go and tells what came of it; to all ranks of a launch alike. `note`, unless empty, is the
  /// result's message.
  StudyResult conclude(const std::string& note = {});
  /// Asks for a clean end. Any thread, and a signal handler.
  void stop() noexcept;
  /// See Engine::offer. Any thread.
  void offer() noexcept;
  /// The best value as the user knows it: of what is maximized, the greatest.
  Progress progress() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
