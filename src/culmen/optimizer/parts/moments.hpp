// Mean and deviation.
#pragma once
#include <cmath>
#include <cstdint>

namespace culmen {

/// Mean and deviation of numbers that are added one at a time (Welford, Technometrics 4 (1962) 419).
class Moments {
 public:
  void add(double value) {
    const double off = value - mean_;
    mean_ += off / static_cast<double>(++count_);
    squares_ += off * (value - mean_);
  }
  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  /// The standard deviation of these numbers; NaN if there are none.
  double deviation() const { return std::sqrt(squares_ / static_cast<double>(count_)); }
  /// The standard error of the mean; not finite if there are fewer than two numbers.
  double error() const { return std::sqrt(squares_ / static_cast<double>(count_) / static_cast<double>(count_ - 1)); }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace culmen
