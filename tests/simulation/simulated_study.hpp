// A whole study on a virtual cluster: the real engine, store, optimizer and worker code.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "culmen/engine/engine.hpp"
#include "culmen/simulation/lossy_recorder.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen::testing {

struct SimulationPlan {
  ClusterPlan cluster;
  std::string optimizer = "cmaes";  ///< or "modelled", which has jobs
  Mode mode = Mode::generational;
  double mean_job_s = 1;
  std::uint64_t evaluations = 60;
  double target = -std::numeric_limits<double>::infinity();
  double master_dies = 0;      ///< probability at each of the master's turns
  double dies_at_end = 0;      ///< probability after the last tell, before the end is in the journal
  double commits_early = 0.5;  ///< probability that the writer commits before the next event
  std::uint32_t lost_workers = 1000;
  bool visitors = false;  ///< all workers come and go
  std::string store;      ///< fresh path
};

/// One call of the optimizer, as it saw it.
struct Seen {
  bool is_ask = false;
  EvaluationId id = 0;
  std::vector<double> figures;  ///< asked: the vector; told: the value
  bool operator==(const Seen&) const = default;
};

struct SimulationResult {
  std::vector<Seen> seen;  ///< by the last master's optimizer, replay included
  EngineResult result;
  FaultCounts faults;
  int masters = 0;
  std::vector<std::string> violations;
};

/// Runs to the end, restarting the master whenever it dies.
SimulationResult simulate(const SimulationPlan& plan);

/// Replays the plan's journal with a new optimizer. Returns the asks and tells as the optimizer sees them. Adds to
/// `violations` if the journal contains other candidates.
std::vector<Seen> replayed(const SimulationPlan& plan, std::vector<std::string>& violations);

}  // namespace culmen::testing
