// The candidates of one point of `culmen bench transport`, and when their outcomes arrived.
#pragma once
#include <atomic>
#include <vector>

#include "culmen/base/clock.hpp"
#include "culmen/base/random.hpp"
#include "culmen/evaluation/source.hpp"

namespace culmen {

/// How long evaluations take, and how many are measured.
struct Load {
  double mean_s = 0;  ///< of an evaluation
  double spread = 0;  ///< standard deviation of the durations' logarithm; 0: all are equal
  std::size_t workers = 1;
  double at_least_s = 0;   ///< of the measurement, which begins when all workers are there
  std::size_t rounds = 1;  ///< evaluations of each worker, at least
  std::size_t parameters = 1;
};

/// The part of a run in which all workers are busy. Its evaluations are a multiple of the number of workers, so that it
/// does not matter where in their evaluations the workers are when it begins.
struct SteadyState {
  std::size_t evaluations = 0;  ///< 0: there were too few
  double seconds = 0;
  double durations_s = 0;  ///< of these evaluations together, as they were asked for
};

/// Gives candidates, whose first number is the duration, until the measurement has lasted long enough.
class TimedSource final : public Source {
 public:
  /// The clock must outlive it.
  TimedSource(const Load& load, const Clock& clock);
  /// From now on it counts. Any thread.
  void all_are_there();
  /// After the run.
  SteadyState steady_state() const;
  std::uint64_t told() const { return told_; }
  /// Evaluations that failed, were cancelled or have another value than they should.
  std::uint64_t wrong() const { return wrong_; }

  std::size_t ask(std::size_t n, std::vector<Candidate>& out) override;
  void tell(EvaluationId id, Outcome& outcome) override;
  /// Notes the time: the engine calls it once for each outcome that arrives, but tells in the order of candidates.
  bool evaluated(const Outcome& outcome) const override;
  void cancel(EvaluationId) override { ++wrong_; }
  bool finished() const override { return finished_; }
  Mode mode() const override { return Mode::generational; }
  bool journalled() const override { return false; }
  std::string name() const override { return "bench"; }
  std::uint64_t asked() const override { return durations_s_.size(); }

 private:
  struct Arrival {
    double at_s;
    double duration_s;  // as it was asked for
  };
  double draw();
  bool is_long_enough() const;

  const Load load_;
  const std::size_t most_open_;  // candidates that are asked and not told
  const Clock& clock_;
  Random random_{1};
  std::vector<double> durations_s_;  // of all candidates
  mutable std::vector<Arrival> arrived_;
  std::uint64_t told_ = 0;
  std::uint64_t wrong_ = 0;
  double end_s_ = 0;                // it asks for no more from then on
  std::atomic<double> begin_s_{0};  // 0: not all workers are there
  std::atomic<bool> finished_{false};
};

}  // namespace culmen
