// Items of consecutive ids in a sliding window, with O(1) per look-up. Roughly, the oldest items are finished first.
#pragma once
#include <cassert>
#include <cstdint>
#include <deque>

namespace culmen {

/// Holds items for ids [first(), end()). Items leave at the front once they are done.
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
  /// Drops leading items for which `done` is true.
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
