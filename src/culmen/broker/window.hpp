// What is known of consecutive ids of which the oldest are finished first, more or less: a sliding window, O(1) a
// look-up.
#pragma once
#include <cassert>
#include <cstdint>
#include <deque>

namespace culmen {

/// Holds items for ids [first(), end()). Items are given back from the front once their turn comes.
template <class T>
class Window {
 public:
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return first_ + items_.size(); }
  bool has(std::uint64_t id) const { return id >= first_ && id < end(); }
  T& operator[](std::uint64_t id) {
    assert(has(id));
    return items_[id - first_];
  }
  T& push() { return items_.emplace_back(); }
  /// Drops leading items for which `done` holds.
  template <class Done>
  void trim(Done done) {
    while (!items_.empty() && done(items_.front())) {
      items_.pop_front();
      ++first_;
    }
  }

 private:
  std::uint64_t first_ = 0;
  std::deque<T> items_;
};

}  // namespace culmen
