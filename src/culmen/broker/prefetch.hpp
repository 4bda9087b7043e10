// Whether candidates wait at the workers, and how many: from the durations of evaluations and the round trips.
#pragma once
#include <cstdint>

namespace culmen {

struct PrefetchTerms {
  bool allowed = true;
  double below_s = 0;       ///< mean duration of an evaluation below which candidates wait
  std::uint32_t batch = 1;  ///< above 1: so many wait
  bool only_one = false;    ///< at most one waits, unless there are batches
};

class Prefetch {
 public:
  static constexpr std::uint32_t most_waiting = 64;

  explicit Prefetch(const PrefetchTerms& terms) : terms_(terms) {}
  /// Of an evaluation; below 0: not known.
  void learn_duration(double duration_s);
  /// From sending a candidate to its outcome, without its evaluation. The least one counts: others contain delays of a
  /// busy machine.
  void learn_round_trip(double trip_s);
  /// Begins or ends, by what was learnt.
  void decide();
  /// Candidates that wait at each worker besides those that it evaluates.
  std::uint64_t waiting() const;

 private:
  PrefetchTerms terms_;
  bool on_ = false;
  double mean_duration_s_ = -1;  // below 0: unknown
  double round_trip_s_ = -1;     // below 0: unknown
};

}  // namespace culmen
