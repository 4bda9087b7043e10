// Who begins a population.
#pragma once
#include <algorithm>
#include <cstddef>

namespace culmen {

/// The first candidates of a population, which come from no parents. Until three quarters of them are back, all that
/// follow come from no parents either: else, without generations, the children of those that were quick would have
/// settled the search before the slow ones are heard of. Where founders are never heard of, it goes on without them
/// after four times as many evaluations.
class Founders {
 public:
  explicit Founders(std::size_t count = 0) : count_(count) {}
  /// As long as none is back.
  void grow(std::size_t count) {
    if (back_ == 0) count_ = std::max(count_, count);
  }
  /// Of each candidate that is asked for: whether it is a founder.
  bool enlist() { return asked_++ < count_; }
  /// Of each that came back, cancelled ones too.
  void returned(bool founder) {
    founders_back_ += founder ? 1 : 0;
    ++back_;
  }
  bool settled() const { return 4 * founders_back_ >= 3 * count_ || back_ >= 4 * count_; }

 private:
  std::size_t count_, asked_ = 0, founders_back_ = 0, back_ = 0;
};

}  // namespace culmen
