// Jobs of an optimizer that another one wraps.
#pragma once
#include <functional>
#include <utility>

#include "culmen/optimizer/optimizer.hpp"

namespace culmen {

/// Takes them; the wrapper gives them out as its own.
class InnerJobs {
 public:
  explicit InnerJobs(Optimizer& inner) { inner.hand_out_jobs(); }
  std::function<Bytes()> next(Optimizer& inner) {
    auto job = inner.next_job();
    if (!job) return {};
    id_ = job->id;
    return std::move(job->work);
  }
  void adopt(Optimizer& inner, const Bytes& result) const { inner.adopt(id_, result); }

 private:
  JobId id_ = 0;
};

}  // namespace culmen
