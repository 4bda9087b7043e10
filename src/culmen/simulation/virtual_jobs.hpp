// Jobs that take virtual time.
#pragma once
#include <optional>

#include "culmen/base/random.hpp"
#include "culmen/engine/jobs.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {

/// The work is done when it is started. Its result comes later, after an exponentially distributed time.
class VirtualJobs final : public JobRunner {
 public:
  /// Both must outlive it.
  VirtualJobs(VirtualCluster& cluster, const VirtualClock& clock, double mean_s, std::uint64_t seed)
      : cluster_(cluster), clock_(clock), mean_s_(mean_s), random_(seed, 78) {}
  void start(Job job) override;
  std::optional<JobResult> take() override;
  void wait() override {}

 private:
  VirtualCluster& cluster_;
  const VirtualClock& clock_;
  double mean_s_;
  Random random_;
  std::optional<JobResult> result_;
  double due_s_ = 0;
};

}  // namespace culmen
