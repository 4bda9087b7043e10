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
OptimizerFactory sound_asynchronous_optimizer();

}  // namespace culmen::conformance
