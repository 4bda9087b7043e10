// Mean and deviation.
#pragma once
#include <cmath>
#include <cstdint>

namespace culmen {

/// Of numbers, one after the other (Welford, Technometrics 4 (1962) 419).
class Moments {
 public:
  void add(double value) {
    const double off = value - mean_;
    mean_ += off / static_cast<double>(++count_);
    squares_ += off * (value - mean_);
  }
  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  /// Of these numbers; NaN of none.
  double deviation() const { return std::sqrt(squares_ / static_cast<double>(count_)); }
  /// The standard error of the mean; not finite of less than two.
  double error() const { return std::sqrt(squares_ / static_cast<double>(count_) / static_cast<double>(count_ - 1)); }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

}  // namespace culmen
