// How long a relay may keep results, so that more of them share a message.
#pragma once
#include <algorithm>
#include <limits>
#include <vector>

#include "culmen/base/ids.hpp"

namespace culmen {

/// A worker with candidates ahead of it does not notice that its result waits for half of the time that these will
/// take. The relays on its way share this time. The result of a worker without any goes at once. Pure: time is given.
class Patience {
 public:
  explicit Patience(std::size_t workers, std::size_t relays_on_way = 1)
      : workers_(workers), share_(0.5 / static_cast<double>(relays_on_way)) {}
  /// The worker got a candidate.
  void sent(WorkerId worker) { ++workers_[worker].ahead; }
  /// The worker gave a result.
  void arrived(WorkerId worker, double now_s) {
    auto& w = workers_[worker];
    if (w.was_busy) learn(now_s - w.result_s);
    if (w.ahead > 0) --w.ahead;
    w.result_s = now_s;
    w.was_busy = w.ahead > 0;
    const double longest_s = static_cast<double>(w.ahead) * duration_s_ * share_;
    until_s_ = std::min(until_s_, now_s + std::min(longest_s, 2 * share_ * most_s));
  }
  void hurry() { until_s_ = 0; }
  /// The results have gone.
  void flushed() { until_s_ = std::numeric_limits<double>::infinity(); }
  /// When they must go; infinity if there is none.
  double until_s() const { return until_s_; }

 private:
  static constexpr double most_s = 1e-3, weight = 0.05;
  struct AtWorker {
    std::size_t ahead = 0;  // candidates that it has
    double result_s = 0;    // when its last result came
    bool was_busy = false;  // it had another one then
  };
  void learn(double duration_s) { duration_s_ += (duration_s_ == 0 ? 1 : weight) * (duration_s - duration_s_); }
  std::vector<AtWorker> workers_;
  double share_;
  double duration_s_ = 0;  // mean time between two results of a busy worker
  double until_s_ = std::numeric_limits<double>::infinity();
};

}  // namespace culmen
