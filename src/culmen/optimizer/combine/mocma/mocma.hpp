// MO-CMA-ES: several objectives.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind mocma_kind();

}  // namespace culmen
