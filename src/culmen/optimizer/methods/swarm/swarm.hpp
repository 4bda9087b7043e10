// Particle swarms.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind swarm_kind();

}  // namespace culmen
