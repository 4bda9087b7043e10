#include "culmen/engine/jobs.hpp"

#include <exception>
#include <utility>

namespace culmen {

JobResult result_of(const Job& job) noexcept {
  JobResult result{job.id, {}, {}};
  try {
    result.bytes = job.work();
  } catch (const std::exception& e) {
    result.error = *e.what() != '\0' ? e.what() : "a job of the optimizer failed without a message";
  }
  return result;
}

void JobThread::start(Job job) {
  wait();
  done_ = false;
  thread_ = std::thread([this, job = std::move(job)] {
    result_ = result_of(job);
    done_ = true;
    on_done_();
  });
}

std::optional<JobResult> JobThread::take() {
  if (!done_) return {};
  wait();
  done_ = false;
  return std::move(result_);
}

void JobThread::wait() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace culmen
