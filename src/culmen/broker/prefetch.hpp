// Decides how many candidates wait at a worker, from the durations of evaluations and the worker's round trip.
#pragma once
#include <cstdint>

namespace culmen {

struct PrefetchTerms {
  bool allowed = true;
  double below_s = 0;       ///< mean duration of an evaluation below which candidates wait
  std::uint32_t batch = 1;  ///< above 1: this number of candidates waits
  bool only_one = false;    ///< at most one waits, unless there are batches
  std::uint64_t most = 64;  ///< largest number of candidates that wait at a worker because of its backlog
  bool calls = false;       ///< candidates are calls of a program: at most two wait, and no more than below_s of work,
                            ///< unless there are batches
};

/// The round trip of one worker: the time from sending a candidate to its outcome, without the evaluation. It can be
/// measured only with a candidate that was alone at the worker.
class RoundTrip {
 public:
  /// The shortest round trip counts, because longer ones contain delays of a busy machine.
  void learn(double trip_s);
  /// The worker has answered.
  void count_answer() { ++answers_; }
  bool has_answers() const { return answers_ > 0; }
  /// Whether the next candidate should be alone, to measure again: the first one may have been slow because all workers
  /// started at once. The second one is alone, and then the ones after 4, 16, … times as many answers.
  bool is_in_doubt() const;
  /// 0 if unknown.
  double seconds() const { return seconds_ < 0 ? 0 : seconds_; }

 private:
  double seconds_ = -1;  // below 0: unknown
  std::uint64_t answers_ = 0, in_doubt_from_ = 0;
};

/// Measures the share of time in which a worker evaluates, and decides whether more candidates should wait for it. On a
/// crowded machine, messages are slow: if more candidates wait, fewer messages are necessary.
class Backlog {
 public:
  /// It had fewer candidates than it may have.
  void restart();
  /// `duration_s`: of the evaluation; below 0: not known. `most`: candidates that the worker may have now. `may_grow`:
  /// more than that may wait.
  void see_answer(double now_s, double duration_s, std::uint64_t most, bool may_grow);
  /// The number of candidates that should wait, as a multiple of the usual number.
  std::uint64_t times() const { return times_; }
  /// Mean duration of the latest evaluations; 0: not known.
  double duration_s() const { return duration_s_; }

 private:
  void judge(double busy, bool may_grow);

  double since_s_ = 0, busy_s_ = 0, duration_s_ = 0;
  double busy_before_ = -1;  // below 0: times_ has not just grown
  std::uint64_t answers_ = 0, times_ = 1;
  std::uint32_t rest_ = 0, next_rest_ = 1;  // looks until it may grow again
  std::uint32_t restarts_ = 0;              // since times_ has grown
  std::uint32_t busy_looks_ = 0;            // since times_ changed
};

class Prefetch {
 public:
  static constexpr std::uint32_t most_waiting = 64;
  static constexpr double longest_ahead_s = 0.5;  ///< of candidates that wait because of a backlog

  explicit Prefetch(const PrefetchTerms& terms) : terms_(terms) {}
  /// The duration of an evaluation; below 0: not known.
  void learn_duration(double duration_s);
  /// Number of candidates that wait at a worker, without the ones that it evaluates: now, and at most if its backlog
  /// grows.
  struct Waiting {
    std::uint64_t now, most;
  };
  Waiting waiting(const RoundTrip& trip, const Backlog& backlog = {}) const;
  /// Number of evaluations that together take as long as two round trips.
  std::uint64_t in_two_trips(const RoundTrip& trip) const;
  /// Whether an evaluation takes less time than a worker waits for its next candidate.
  bool shorter_than(const RoundTrip& trip) const;

 private:
  std::uint64_t usually_waiting(double trip_s) const;
  std::uint64_t most_of(const Backlog& backlog) const;

  PrefetchTerms terms_;
  bool short_ = false;           // evaluations are
  double mean_duration_s_ = -1;  // below 0: unknown
};

}  // namespace culmen
