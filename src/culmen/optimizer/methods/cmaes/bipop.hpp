// Which run comes after which.
#pragma once
#include <cstdint>

#include "culmen/base/random.hpp"

namespace culmen::cmaes {

struct Run {
  std::size_t population;
  double sigma_factor;            ///< on the first run's sigma
  std::uint64_t max_evaluations;  ///< 0: no limit
  bool large;
};

/// Hansen, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed": two kinds of restart, large ones
/// that double the population each time, and small ones of random size and step; the kind that has used fewer
/// evaluations is next. After nine doublings the large ones begin anew.
class Bipop {
 public:
  /// What runs of each kind that have not ended yet have used.
  struct Running {
    std::uint64_t large = 0, small = 0;
  };

  explicit Bipop(std::size_t population) : population_(population) {}
  /// It counts as a small one, so that a large one is next.
  Run first() const { return {population_, 1, 0, false}; }
  /// evaluations: what the run has used.
  void ended(bool large, std::uint64_t evaluations);
  /// One that begins beside those that run. A small one has no limit before a large one has ended.
  Run next(const Running& running, Random& random);

 private:
  std::size_t large_population() const { return population_ << doublings_; }

  std::size_t population_;
  unsigned doublings_ = 0;
  std::uint64_t used_small_ = 0, used_large_ = 0, last_large_ = 0;
};

}  // namespace culmen::cmaes
