// Simulated annealing.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind annealing_kind();

}  // namespace culmen
