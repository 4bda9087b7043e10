// Differential evolution.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind de_kind();

}  // namespace culmen
