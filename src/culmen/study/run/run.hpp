// One start of a study's master: puts optimizer, store, workers and engine together.
#pragma once
#include <memory>

#include "culmen/engine/engine.hpp"
#include "culmen/study/config/result.hpp"
#include "culmen/study/config/study_config.hpp"
#include "culmen/study/run/run_options.hpp"

namespace culmen {

/// prepare() and conclude() belong to one thread (MPI's); execute() may run on another.
class Run {
 public:
  /// `function` for EvaluatorKind::function.
  Run(StudyConfig config, RunOptions options, Function function = {});
  /// With a source of the caller, which ends the run. `config` then says only how its candidates are evaluated.
  Run(StudyConfig config, RunOptions options, std::shared_ptr<Source> source, Function function = {});
  ~Run();
  /// Checks the input, opens the store, starts the workers. Throws InputError, StoreError or TransportError. Before it
  /// throws, it removes everything that it has started, and informs ranks that wait.
  void prepare();
  using Door = Crew::Door;
  /// After prepare().
  const Door& door() const;
  /// After prepare(): the numbers of workers at the start, and of their machines.
  std::uint32_t workers() const;
  std::uint32_t nodes() const;
  /// Replays the store, then runs to the end. Never throws: an error becomes the reason and message of the result.
  void execute();
  /// After execute(): one sentence about the reason of the end.
  std::string message() const;
  /// Ends the workers and returns the result, which all ranks of a launch get. A `note` that is not empty becomes its
  /// message.
  StudyResult conclude(const std::string& note = {});
  /// Asks for a clean end. Any thread, and a signal handler.
  void stop(StopReason why = StopReason::interrupted) noexcept;
  /// See Engine::offer. Any thread.
  void offer() noexcept;
  /// The best value has the user's sign: if the objective is maximized, it is the greatest value.
  Progress progress() const;
  /// It grows during the run. Null if RunOptions::history_bytes is 0. Any thread.
  std::shared_ptr<const History> history() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
