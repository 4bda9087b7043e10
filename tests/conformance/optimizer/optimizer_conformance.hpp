// The promises of every optimizer (culmen/optimizer/core/optimizer.hpp), as checks for any implementation.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "culmen/optimizer/core/info.hpp"
#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::conformance {

using OptimizerFactory = std::function<std::unique_ptr<Optimizer>(const Space&, std::uint64_t seed)>;

/// One promise. holds() returns what was seen instead, or an empty string.
struct OptimizerPromise {
  std::string name;
  std::function<std::string(const OptimizerFactory&, const Space&, std::uint64_t seed)> holds;
};

const std::vector<OptimizerPromise>& optimizer_promises();
/// Further promises of optimizers that are not generational (see Terms).
const std::vector<OptimizerPromise>& asynchronous_promises();

/// Names of those that are broken, in their order.
std::vector<std::string> broken_promises(const std::vector<OptimizerPromise>& promises, const OptimizerFactory& factory,
                                         const Space& space, std::uint64_t seed);

/// Why a vector is no point of the space: out of bounds, of the wrong length, not whole, not at rest; or empty.
std::string misplaced(const Space& space, const std::vector<double>& x);

/// Spaces on which every optimizer that has no obstacle() there has to work: one parameter, integers, logarithms,
/// mixtures, extreme ranges, choices and conditions.
const std::vector<std::pair<std::string, Space>>& conformance_spaces();

}  // namespace culmen::conformance
