// Decides which worker gets the next candidates, and how many. It uses the number of candidates at each worker, and the
// worker's round trip.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "culmen/base/ids.hpp"
#include "culmen/broker/prefetch.hpp"

namespace culmen {

/// The candidates that no worker has.
struct Supply {
  std::uint64_t ready = 0;
  bool last = false;  ///< no more come before a tell
};

/// Not thread-safe. Amortised O(1) per candidate.
class Dispatcher {
 public:
  using Sent = std::vector<std::pair<EvaluationId, Attempt>>;
  struct Left {
    Sent sent;             ///< the candidates at the worker, in the order of sending
    bool evaluates_first;  ///< it was evaluating the first one: all before are answered
  };

  /// `open_ended`: candidates are calls of a program, which submits the next ones when it has a result.
  Dispatcher(const PrefetchTerms& terms, bool open_ended);

  /// False if the worker has already joined.
  bool join(WorkerId worker);
  /// The worker gets no more candidates.
  void leave(WorkerId worker);
  /// Empty if the worker had not joined.
  std::optional<Left> lose(WorkerId worker);
  /// Does nothing if the worker does not have this candidate. `duration_s` below 0: not known.
  void answer(WorkerId worker, EvaluationId id, Attempt attempt, double duration_s, double now_s, const Supply& supply);
  void learn_duration(double duration_s) { prefetch_.learn_duration(duration_s); }

  /// One of the workers with the fewest candidates. Empty if no worker should get one now.
  std::optional<WorkerId> pick(const Supply& supply);
  /// Whether the worker should get one more candidate. Several candidates travel in one message.
  bool can_take(WorkerId worker, const Supply& supply) const;
  /// Returns the number of results that the worker may send later, because its candidates last longer than two round
  /// trips.
  std::uint32_t give(WorkerId worker, EvaluationId id, Attempt attempt, double now_s);

  std::uint32_t workers() const { return alive_; }
  std::uint32_t busy() const { return busy_; }
  /// Workers that pick() may return.
  std::size_t free() const { return free_workers_; }
  /// Number of candidates that all workers together should have if round trips took no time.
  std::uint64_t wanted() const { return alive_ * (batch_ + prefetch_.waiting({}).now); }
  /// Number of candidates for which workers are free at this moment.
  std::uint64_t room();

 private:
  static constexpr std::size_t not_free = SIZE_MAX;
  struct Worker {
    bool alive = false;
    bool leaving = false;
    Sent sent;
    std::size_t place = not_free;  // in free_[sent.size()]
    double alone_since_s = -1;     // when it got its only candidate; below 0: it has had several since
    RoundTrip round_trip;
    Backlog backlog;
  };

  bool has(WorkerId worker) const { return worker < workers_.size() && workers_[worker].alive; }
  std::uint64_t credits(const Worker& worker) const;
  std::uint64_t on_the_way(const Worker& worker) const;
  std::uint64_t refill_level(const Worker& worker) const;
  std::uint32_t may_hold(const Worker& worker) const;
  bool keeps_for_idle(const Worker& worker, const Supply& supply) const;
  void see_backlog(Worker& worker, double duration_s, double now_s, const Supply& supply);
  void set_free(WorkerId worker);
  void unset_free(WorkerId worker);
  void unset_full();

  std::uint32_t batch_;
  bool open_ended_;
  Prefetch prefetch_;
  std::uint32_t alive_ = 0, busy_ = 0;
  std::vector<Worker> workers_;
  std::vector<std::vector<WorkerId>> free_;  // workers that had fewer candidates than credits, by candidates sent
  std::size_t free_workers_ = 0;             // in free_
};

}  // namespace culmen
