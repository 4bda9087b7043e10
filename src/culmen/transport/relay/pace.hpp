// How often a side of a line looks at it. Nobody rings when a message arrives, as MPI has no bell.
#pragma once
#include <algorithm>

#include "culmen/base/clock.hpp"

namespace culmen {

/// A nap is an eighth of the time since the last message, so waiting takes hardly longer than necessary. An idle
/// process looks a thousand times a second, which costs about a hundredth of a CPU.
class Pace {
 public:
  static constexpr double shortest_s = 20e-6, longest_s = 1e-3;

  void found() { found_s_ = clock_.now_s(); }
  double nap_s() const { return std::clamp((clock_.now_s() - found_s_) / 8, shortest_s, longest_s); }

 private:
  SteadyClock clock_;
  double found_s_ = clock_.now_s();
};

}  // namespace culmen
