// Optimizers that break one promise each, so that the kit is known to notice.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "conformance/optimizer/optimizer_conformance.hpp"

namespace culmen::conformance {

struct BrokenOptimizer {
  std::string name;
  std::string promise;  ///< that it breaks
  OptimizerFactory make;
};

const std::vector<BrokenOptimizer>& broken_optimizers();
/// They break asynchronous_promises().
const std::vector<BrokenOptimizer>& broken_asynchronous_optimizers();
/// The same schemes with nothing broken.
OptimizerFactory sound_optimizer();
/// Its memory rises far with each run, and comes back.
OptimizerFactory sound_optimizer_with_restarts();
OptimizerFactory sound_asynchronous_optimizer();

}  // namespace culmen::conformance
