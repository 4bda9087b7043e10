// Jobs of optimizers inside another one.
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Collects the jobs of inner optimizers. The outer one gives them out as its own, one at a time. The optimizers must
/// outlive this object.
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
  /// Passes the result to the optimizer of the last job. A job from before the optimizers were exchanged is ignored.
  void adopt(const Bytes& result) {
    if (auto* inner = std::exchange(at_work_, nullptr)) inner->adopt(id_, result);
  }

 private:
  std::vector<Optimizer*> inners_;
  Optimizer* at_work_ = nullptr;
  JobId id_ = 0;
};

}  // namespace culmen
