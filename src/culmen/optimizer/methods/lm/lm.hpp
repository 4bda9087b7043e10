// Levenberg and Marquardt: least squares.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind lm_kind();

}  // namespace culmen
