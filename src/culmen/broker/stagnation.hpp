// Whether a study still makes progress.
#pragma once
#include <cstdint>
#include <limits>

namespace culmen {

/// Counts the evaluations since the best value last improved by more than a share of the whole improvement so far
/// (from the first value to the best). It uses only differences of values: adding a constant to the objective, or
/// scaling it, changes nothing.
class Stagnation {
 public:
  explicit Stagnation(double tolerance) : tolerance_(tolerance) {}
  void see(bool ok, double value) {
    ++since_;
    if (!ok || !(value < best_)) return;
    if (best_ == std::numeric_limits<double>::infinity()) first_ = value, reference_ = value, since_ = 0;
    best_ = value;
    if (reference_ - best_ <= tolerance_ * (first_ - best_)) return;
    reference_ = best_;
    since_ = 0;
  }
  std::uint64_t since() const { return since_; }

 private:
  double tolerance_;
  double first_ = 0, reference_ = 0, best_ = std::numeric_limits<double>::infinity();
  std::uint64_t since_ = 0;
};

}  // namespace culmen
