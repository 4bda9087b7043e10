// The evaluations that workers have, and since when they run.
#pragma once
#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "culmen/base/ids.hpp"

namespace culmen {

/// A worker evaluates its candidates in the order in which they were sent: the first of them runs.
class Underway {
 public:
  struct Oldest {
    EvaluationId evaluation = 0;
    WorkerId worker = 0;
    double since_s = 0;
  };

  void sent(WorkerId worker, EvaluationId id, double now_s) {
    if (worker >= workers_.size()) workers_.resize(worker + 1);
    auto& w = workers_[worker];
    if (w.sent.empty()) w.since_s = now_s;
    w.sent.push_back(id);
  }
  void returned(WorkerId worker, EvaluationId id, double now_s) {
    if (worker >= workers_.size()) return;
    auto& w = workers_[worker];
    std::erase(w.sent, id);
    w.since_s = now_s;
  }
  /// Seconds for which the worker's evaluation ran, which it will not end.
  double lost(WorkerId worker, double now_s) {
    if (worker >= workers_.size() || workers_[worker].sent.empty()) return 0;
    workers_[worker].sent.clear();
    return now_s - workers_[worker].since_s;
  }
  /// The one that has run longest. Takes O(workers).
  std::optional<Oldest> oldest() const {
    std::optional<Oldest> found;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const auto& w = workers_[i];
      if (!w.sent.empty() && (!found || w.since_s < found->since_s))
        found = Oldest{w.sent.front(), static_cast<WorkerId>(i), w.since_s};
    }
    return found;
  }
  /// Seconds for which all that run now have run together.
  double running_s(double now_s) const {
    double sum = 0;
    for (const auto& w : workers_) sum += w.sent.empty() ? 0 : now_s - w.since_s;
    return sum;
  }

 private:
  struct Worker {
    std::deque<EvaluationId> sent;
    double since_s = 0;
  };
  std::vector<Worker> workers_;
};

}  // namespace culmen
