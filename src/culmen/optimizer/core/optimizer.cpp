#include "culmen/optimizer/core/optimizer.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"

namespace culmen {

std::size_t Optimizer::ask(std::size_t n, std::vector<Candidate>& out) {
  const std::size_t before = out.size();
  do {
    while (did_job()) {
    }
    do_ask(before + n - out.size(), out);
  } while (out.size() < before + n && did_job());
  for (std::size_t k = before; k < out.size(); ++k) {
    out[k].id = next_;
    open_.insert(next_++);
  }
  return out.size() - before;
}

void Optimizer::tell(EvaluationId id, const Outcome& outcome) {
  close(id, "told");
  do_tell(id, outcome);
}

void Optimizer::cancel(EvaluationId id) {
  close(id, "cancelled");
  do_cancel(id);
}

std::optional<Job> Optimizer::next_job() {
  if (!hands_out_jobs_ || job_is_out_) return {};
  auto work = do_job();
  if (!work) return {};
  job_is_out_ = true;
  return Job{jobs_++, std::move(work)};
}

void Optimizer::adopt(JobId job, const Bytes& result) {
  if (!job_is_out_ || job + 1 != jobs_)
    throw InputError(fmt::format("job {} cannot be adopted: {}", job,
                                 job_is_out_ ? fmt::format("job {} is open", jobs_ - 1) : "no job is open"));
  job_is_out_ = false;
  do_adopt(result);
}

/// Runs the job if nobody takes it.
bool Optimizer::did_job() {
  if (hands_out_jobs_) return false;
  const auto work = do_job();
  if (!work) return false;
  do_adopt(work());
  return true;
}

void Optimizer::close(EvaluationId id, const char* what) {
  if (open_.erase(id) == 1) return;
  if (id < next_) {
    throw InputError(fmt::format("evaluation {} cannot be {}: it was already told or cancelled", id, what));
  }
  throw InputError(
      fmt::format("evaluation {} cannot be {}: it was never asked for; only {} evaluations were", id, what, next_));
}

}  // namespace culmen
