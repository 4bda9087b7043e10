// The first members of a population.
#pragma once
#include <algorithm>
#include <cstddef>

namespace culmen {

/// Founders are the first candidates of a population and have no parents. Until three quarters of them are back, later
/// candidates have no parents either. Otherwise, without generations, the children of quick founders would decide the
/// search before the slow ones are back. If founders never come back, the population continues without them after four
/// times as many evaluations.
class Founders {
 public:
  explicit Founders(std::size_t count = 0) : count_(count) {}
  /// Has an effect until the first one is back.
  void grow(std::size_t count) {
    if (back_ == 0) count_ = std::max(count_, count);
  }
  /// Counts a candidate that is asked for. Returns whether it is a founder.
  bool enlist() { return asked_++ < count_; }
  /// Counts a candidate that came back or was cancelled.
  void returned(bool founder) {
    founders_back_ += founder ? 1 : 0;
    ++back_;
  }
  bool settled() const { return 4 * founders_back_ >= 3 * count_ || back_ >= 4 * count_; }

 private:
  std::size_t count_, asked_ = 0, founders_back_ = 0, back_ = 0;
};

}  // namespace culmen
