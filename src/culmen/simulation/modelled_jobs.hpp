// Jobs of optimizers on a virtual clock: each takes the CPU time that it really takes.
#pragma once
#include <optional>
#include <utility>

#include "culmen/engine/jobs.hpp"
#include "culmen/simulation/modelled_cluster.hpp"

namespace culmen {

/// The work is done when it is started. Its result comes after the time that it took.
class ModelledJobs final : public JobRunner {
 public:
  /// Both outlive it.
  ModelledJobs(ModelledCluster& cluster, const VirtualClock& clock) : cluster_(cluster), clock_(clock) {}
  void start(Job job) override;
  std::optional<JobResult> take() override;
  void wait() override {}
  /// CPU time of jobs since the last call: the master's thread did not do that work.
  double take_cpu_s() { return std::exchange(cpu_s_, 0); }

 private:
  ModelledCluster& cluster_;
  const VirtualClock& clock_;
  std::optional<JobResult> result_;
  double due_s_ = 0, cpu_s_ = 0;
};

}  // namespace culmen
