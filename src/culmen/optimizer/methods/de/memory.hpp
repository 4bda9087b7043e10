// The success history of SHADE: which strategies worked.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/base/random.hpp"

namespace culmen::de {

/// The factor of a trial's differences, and the share of genes that it takes from the mutant.
struct Strategy {
  double factor, crossover;
};

/// Success-history adaptation (Tanabe and Fukunaga, CEC 2013 p. 71; with the terminal value of L-SHADE, CEC 2014 p.
/// 1658). It holds `length` pairs of means. After each generation with successful trials one pair is replaced.
class Memory {
 public:
  struct Success {
    Strategy strategy;
    double gain;  ///< the fall of the value; 0: it cannot be measured, and counts as the greatest gain
  };
  explicit Memory(std::size_t length, Strategy first) : means_(length, first) {}

  /// Draws around one of the pairs: the factor by a Cauchy distribution, in (0, 1]; the crossover rate by a normal one,
  /// in [0, 1]; both with scale 0.1.
  Strategy draw(Random& random) const;
  /// The weighted Lehmer means of a generation's successes replace the oldest pair. Without successes nothing happens.
  void learn(const std::vector<Success>& successes);
  const std::vector<Strategy>& means() const { return means_; }

 private:
  std::vector<Strategy> means_;  // crossover < 0: terminal, it stays 0 for ever
  std::size_t oldest_ = 0;
};

}  // namespace culmen::de
