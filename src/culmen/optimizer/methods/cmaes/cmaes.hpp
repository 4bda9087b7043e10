// CMA-ES.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind cmaes_kind();

}  // namespace culmen
