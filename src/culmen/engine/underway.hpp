// The evaluations that workers have, and since when they run.
#pragma once
#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
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

  void sent(WorkerId worker, EvaluationId id, Attempt attempt, double now_s) {
    if (worker >= workers_.size()) workers_.resize(worker + 1);
    auto& w = workers_[worker];
    if (w.sent.empty()) w.since_s = now_s;
    w.sent.emplace_back(id, attempt);
    changed_ = true;
  }
  /// Returns the seconds by which the sum of all durations grows. A repeated result adds nothing. The result of a lost
  /// worker adds the time that lost() has not counted yet.
  double returned(WorkerId worker, EvaluationId id, Attempt attempt, double duration_s, double now_s) {
    changed_ = true;
    if (worker < workers_.size()) {
      auto& w = workers_[worker];
      w.since_s = now_s;
      if (std::erase(w.sent, std::pair(id, attempt)) > 0) return duration_s;
    }
    const auto counted = lost_.extract({id, attempt});
    return counted.empty() ? 0 : std::max(0.0, duration_s - counted.mapped());
  }
  /// Returns the seconds for which the worker's unfinished evaluation ran.
  double lost(WorkerId worker, double now_s) {
    if (worker >= workers_.size() || workers_[worker].sent.empty()) return 0;
    auto& w = workers_[worker];
    const double ran_s = now_s - w.since_s;
    lost_[w.sent.front()] = ran_s;
    for (std::size_t i = 1; i < w.sent.size(); ++i) lost_[w.sent[i]] = 0;
    w.sent = {};
    return ran_s;
  }
  /// Results of this evaluation do not matter any more.
  void closed(EvaluationId id) {
    if (!lost_.empty()) lost_.erase(lost_.lower_bound({id, 0}), lost_.lower_bound({id + 1, 0}));
  }
  /// The evaluation that has run longest. Takes O(workers).
  std::optional<Oldest> oldest() const {
    std::optional<Oldest> found;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const auto& w = workers_[i];
      if (!w.sent.empty() && (!found || w.since_s < found->since_s))
        found = Oldest{w.sent.front().first, static_cast<WorkerId>(i), w.since_s};
    }
    return found;
  }
  /// Notes the evaluation that has run longest; evaluations of less than a second do not count. Does this at most once
  /// a second, and only if something has changed. Returns whether it did.
  bool look(double now_s) {
    if (!changed_ || now_s < next_look_s_) return false;
    next_look_s_ = now_s + look_period_s;
    const auto found = oldest();
    changed_ = found && now_s - found->since_s < look_period_s;  // look again when it is older
    longest_ = changed_ ? std::nullopt : found;
    return true;
  }
  /// The evaluation that look() noted.
  const std::optional<Oldest>& longest() const { return longest_; }
  /// The time at which look() is due; infinity if nothing has changed.
  double next_look_s() const { return changed_ ? next_look_s_ : std::numeric_limits<double>::infinity(); }
  /// The sum of the times of all current evaluations so far.
  double running_s(double now_s) const {
    double sum = 0;
    for (const auto& w : workers_) sum += w.sent.empty() ? 0 : now_s - w.since_s;
    return sum;
  }

 private:
  static constexpr double look_period_s = 1;
  using Sent = std::pair<EvaluationId, Attempt>;
  struct Worker {
    std::vector<Sent>
        sent;  // few; without memory of its own after lost(), because numbers of workers do not come again
    double since_s = 0;
  };
  std::vector<Worker> workers_;
  std::map<Sent, double> lost_;  // by lost workers that may return them; seconds that lost() has counted
  bool changed_ = false;         // since look()
  double next_look_s_ = 0;
  std::optional<Oldest> longest_;
};

}  // namespace culmen
