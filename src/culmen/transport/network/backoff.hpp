// The pauses between attempts to connect again.
#pragma once
#include <algorithm>
#include <random>

namespace culmen {

/// They grow, and they differ between workers, so that those who lost their master together do not come back together.
/// Pure: the random numbers are given.
class Backoff {
 public:
  static constexpr double first_s = 0.1, longest_s = 15;
  void restart() { mean_s_ = first_s; }
  template <class Random>
  double next_s(Random& random) {
    std::uniform_real_distribution<double> jitter(0.5, 1.5);
    const auto pause_s = mean_s_ * jitter(random);
    mean_s_ = std::min(longest_s, 2 * mean_s_);
    return pause_s;
  }

 private:
  double mean_s_ = first_s;
};

}  // namespace culmen
