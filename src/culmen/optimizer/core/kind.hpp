// An entry of the registry of optimizers.
#pragma once
#include <functional>
#include <memory>

#include "culmen/optimizer/core/info.hpp"
#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

struct OptimizerKind : OptimizerInfo {
  /// Receives a space and terms without an obstacle, and valid options with all defaults filled in.
  std::function<std::unique_ptr<Optimizer>(const Space&, std::uint64_t seed, const OptimizerOptions&, const Terms&)>
      make;
};

/// The option must exist and have this type.
double number_of(const OptimizerOptions& options, const std::string& name);
std::size_t count_of(const OptimizerOptions& options, const std::string& name);
const std::string& word_of(const OptimizerOptions& options, const std::string& name);

}  // namespace culmen
