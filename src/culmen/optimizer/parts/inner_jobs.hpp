// Jobs of optimizers that another one wraps.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Takes them; the wrapper gives them out as its own, one at a time. The optimizers outlive it.
class InnerJobs {
 public:
  /// Before the first ask of `inner`.
  void add(Optimizer& inner) {
    inner.hand_out_jobs();
    inners_.push_back(&inner);
  }
  std::function<Bytes()> next() {
    for (auto* inner : inners_) {
      auto job = inner->next_job();
      if (!job) continue;
      at_work_ = inner;
      id_ = job->id;
      return std::move(job->work);
    }
    return {};
  }
  bool is_out() const { return at_work_ != nullptr; }
  /// What came of a job that next() gave; of one that was given before the optimizers were exchanged, nothing.
  void adopt(const Bytes& result) {
    if (auto* inner = std::exchange(at_work_, nullptr)) inner->adopt(id_, result);
  }

 private:
  std::vector<Optimizer*> inners_;
  Optimizer* at_work_ = nullptr;
  JobId id_ = 0;
};

}  // namespace culmen
