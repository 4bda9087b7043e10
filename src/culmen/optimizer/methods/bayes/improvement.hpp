// The acquisition: logarithm of the expected improvement (Ament, Daulton, Eriksson, Balandat and Bakshy, NeurIPS 2023).
#pragma once

namespace culmen::bayes {

struct Improvement {
  double logarithm = 0;
  double by_mean = 0, by_deviation = 0;  ///< its slopes
};

/// For a normal value and its improvement below `best`; deviation > 0. Finite even if an improvement is very unlikely.
Improvement log_improvement(double best, double mean, double deviation);

}  // namespace culmen::bayes
