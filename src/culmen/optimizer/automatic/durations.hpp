// How long evaluations take.
#pragma once
#include <cmath>
#include <cstddef>

namespace culmen::automatic {

/// Mean and deviation of durations (Welford, Technometrics 4 (1962) 419).
class Durations {
 public:
  /// Seconds; 0: it was not measured.
  void add(double s) {
    if (!(s > 0)) return;
    const double before = s - mean_;
    mean_ += before / static_cast<double>(++count_);
    squares_ += before * (s - mean_);
  }
  /// Their standard deviation over their mean; 0 until there are as many as that.
  double spread(std::size_t fewest) const {
    return count_ < fewest ? 0 : std::sqrt(squares_ / static_cast<double>(count_)) / mean_;
  }

 private:
  std::size_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace culmen::automatic
