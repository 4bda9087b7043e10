// Candidates that do not depend on outcomes.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind grid_kind();
OptimizerKind random_kind();
OptimizerKind scan_kind();
OptimizerKind sobol_kind();

}  // namespace culmen
