// What descents have found so far.
#pragma once
#include <cstdint>
#include <vector>

#include "culmen/base/random.hpp"

namespace culmen::lm {

struct Minimum {
  std::vector<double> x;
  double sum = 0;
  bool exact = false;  ///< to all digits
};

/// The best minima, each once, and how many descents ended at the best value. Bounded in memory.
class Minima {
 public:
  /// A descent ended here.
  void add(Minimum found);
  /// Whether a descent that is near a minimum of this sum may become the best, or make the best one exact.
  bool worth_refining(double sum) const;
  /// One to go on from: often the best. Not when empty.
  const Minimum& choose(Random& random) const;
  bool empty() const { return known_.empty(); }
  std::uint64_t descents() const { return descents_; }
  std::uint64_t agreeing() const { return agreeing_; }  ///< of the descents

 private:
  std::vector<Minimum> known_;  // best first
  std::uint64_t descents_ = 0, agreeing_ = 0;
};

}  // namespace culmen::lm
