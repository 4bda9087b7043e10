#include "culmen/simulation/virtual_jobs.hpp"

#include <cmath>
#include <utility>

namespace culmen {

void VirtualJobs::start(Job job) {
  result_ = result_of(job);
  const double duration_s = -mean_s_ * std::log1p(-random_.uniform());
  due_s_ = clock_.now_s() + duration_s;
  cluster_.remind(duration_s);
}

std::optional<JobResult> VirtualJobs::take() {
  if (!result_ || clock_.now_s() < due_s_) return {};
  return std::exchange(result_, {});
}

}  // namespace culmen
