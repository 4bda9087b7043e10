#include "culmen/simulation/modelled_jobs.hpp"

#include "culmen/base/cpu_time.hpp"

namespace culmen {

void ModelledJobs::start(Job job) {
  const double before_s = thread_cpu_s();
  result_ = result_of(job);
  const double took_s = thread_cpu_s() - before_s;
  cpu_s_ += took_s;
  due_s_ = clock_.now_s() + took_s;
  cluster_.remind(due_s_);
}

std::optional<JobResult> ModelledJobs::take() {
  if (!result_ || clock_.now_s() < due_s_) return {};
  return std::exchange(result_, {});
}

}  // namespace culmen
