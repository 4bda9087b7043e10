// Which run comes after which.
#pragma once
#include <cstdint>

#include "culmen/base/random.hpp"

namespace culmen::cmaes {

struct Run {
  std::size_t population;
  double sigma_factor;            ///< on the first run's sigma
  std::uint64_t max_evaluations;  ///< 0: no limit
};

/// Hansen, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed": two kinds of restart, large ones
/// that double the population each time, and small ones of random size and step; the kind that has used fewer
/// evaluations is next. After nine doublings the large ones begin anew.
class Bipop {
 public:
  explicit Bipop(std::size_t population) : population_(population) {}
  Run first() const { return {population_, 1, 0}; }
  /// evaluations: what the run that just ended has used.
  Run next(std::uint64_t evaluations, Random& random);

 private:
  std::size_t large_population() const { return population_ << doublings_; }

  std::size_t population_;
  unsigned doublings_ = 0;
  bool last_was_large_ = false;
  std::uint64_t used_small_ = 0, used_large_ = 0, last_large_ = 0;
};

}  // namespace culmen::cmaes
