// What has worked: the success history of SHADE.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/base/random.hpp"

namespace culmen::de {

/// How far a trial goes along differences, and which share of its genes they decide.
struct Strategy {
  double factor, crossover;
};

/// Success-history adaptation (Tanabe and Fukunaga, CEC 2013 p. 71; with the terminal value of L-SHADE, CEC 2014
/// p. 1658): `length` pairs of means, of which one is replaced after each generation in which trials succeeded.
class Memory {
 public:
  struct Success {
    Strategy strategy;
    double gain;  ///< by how much the value fell; 0: that has no measure, and counts as the greatest
  };
  explicit Memory(std::size_t length, Strategy first) : means_(length, first) {}

  /// Around one of the pairs: the factor Cauchy, in (0, 1]; the crossover rate normal, in [0, 1]; scale 0.1 both.
  Strategy draw(Random& random) const;
  /// The weighted Lehmer means of a generation's successes replace the oldest pair; none: nothing happens.
  void learn(const std::vector<Success>& successes);
  const std::vector<Strategy>& means() const { return means_; }

 private:
  std::vector<Strategy> means_;  // crossover < 0: terminal, 0 ever after
  std::size_t oldest_ = 0;
};

}  // namespace culmen::de
