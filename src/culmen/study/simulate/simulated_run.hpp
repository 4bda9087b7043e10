// The simulation of a run on another cluster. The real engine, broker and optimizer run on a virtual clock. Nothing is
// evaluated: only the durations of evaluations are simulated.
#pragma once
#include <memory>

#include "culmen/monitor/progress.hpp"
#include "culmen/simulation/modelled_cluster.hpp"
#include "culmen/simulation/surrogate.hpp"
#include "culmen/study/config/study_config.hpp"

namespace culmen {

struct SimulationPlan {
  ClusterModel cluster;
  DurationModel durations;
  TestFunction function = TestFunction::sphere;  ///< gives the values
  bool prefetch = true;
  /// CPU time of the master for each frame that it receives. Below 0: the time that the engine takes on this machine.
  double master_s = -1;
};

/// Times are virtual, in seconds. The *steady part* of a run begins when all workers have work for the first time, or
/// else with the run. It ends when the master sends the last candidate. If there are no more evaluations than workers,
/// it is the whole run.
struct SimulationFigures {
  StopReason reason = StopReason::none;
  std::uint64_t evaluations = 0;  ///< told
  std::size_t nodes = 0;
  std::size_t first_relays = 0;  ///< relays that talk to the master directly; the others are behind these
  Mode mode = Mode::generational;
  double wall_s = 0;       ///< of the whole run
  double utilisation = 0;  ///< share of the workers' time in which they evaluate, over the whole run
  double steady_s = 0;     ///< length of the steady part
  double steady_utilisation = 0, steady_rate = 0;          ///< rate: evaluations per second
  double master_load = 0, writer_load = 0, line_load = 0;  ///< shares of the steady part
  double relay_load = 0;                                   ///< of the busiest relay, over the whole run
  std::size_t most_running = 0;                            ///< evaluations at the same time
  double frames_per_message = 0;                           ///< between nodes; 0: there was none
  double simulated_in_s = 0;                               ///< CPU time
};

class SimulatedRun {
 public:
  /// The study ends after StopRules::evaluations; its other rules do not apply, because the values are not those of the
  /// study. Throws InputError if the study has no limit of evaluations, or an optimizer of another library; for numbers
  /// below their range; and as make_search() does.
  SimulatedRun(StudyConfig config, SimulationPlan plan);
  ~SimulatedRun();
  /// Once. Throws Error if the optimizer fails.
  SimulationFigures run();
  /// Ends run() soon. The figures then describe the simulated part. Any thread.
  void stop() noexcept;
  /// Any thread.
  Progress progress() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
