// The order of runs.
#pragma once
#include <cstdint>

#include "culmen/base/random.hpp"

namespace culmen::cmaes {

struct Run {
  std::size_t population;
  double sigma_factor;            ///< multiplies the first run's sigma
  std::uint64_t max_evaluations;  ///< 0: no limit
  bool large;
};

/// Hansen, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed": there are two kinds of restart.
/// Large ones double the population each time. Small ones have a random size and step. The kind that has used fewer
/// evaluations is next. After nine doublings the large ones start again from the first size.
class Bipop {
 public:
  /// The evaluations used by the current runs of each kind.
  struct Running {
    std::uint64_t large = 0, small = 0;
  };

  explicit Bipop(std::size_t population) : population_(population) {}
  /// The first run. It counts as a small one, so that a large one is next.
  Run first() const { return {population_, 1, 0, false}; }
  /// evaluations: the number that the run has used.
  void ended(bool large, std::uint64_t evaluations);
  /// A run that starts in parallel with the current ones. A small one has no limit before a large one has ended.
  Run next(const Running& running, Random& random);

 private:
  std::size_t large_population() const { return population_ << doublings_; }

  std::size_t population_;
  unsigned doublings_ = 0;
  std::uint64_t used_small_ = 0, used_large_ = 0, last_large_ = 0;
};

}  // namespace culmen::cmaes
