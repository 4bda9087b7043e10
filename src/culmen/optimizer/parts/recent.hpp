// The vectors that were proposed last.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

namespace culmen {

/// The last vectors, up to a maximum number.
class Recent {
 public:
  explicit Recent(std::size_t most) : most_(most) {}
  bool knows(const std::vector<double>& x) const { return std::ranges::find(recent_, x) != recent_.end(); }
  void note(std::vector<double> x) {
    recent_.push_back(std::move(x));
    if (recent_.size() > most_) recent_.pop_front();
  }

 private:
  const std::size_t most_;
  std::deque<std::vector<double>> recent_;
};

}  // namespace culmen
