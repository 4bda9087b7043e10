// How long evaluations take.
#pragma once
#include <cstddef>

#include "culmen/optimizer/parts/moments.hpp"

namespace culmen::automatic {

class Durations {
 public:
  /// In seconds; 0: not measured.
  void add(double s) {
    if (s > 0) moments_.add(s);
  }
  /// Their standard deviation divided by their mean; 0 until there are `fewest` of them.
  double spread(std::size_t fewest) const {
    return moments_.count() < fewest ? 0 : moments_.deviation() / moments_.mean();
  }

 private:
  Moments moments_;
};

}  // namespace culmen::automatic
