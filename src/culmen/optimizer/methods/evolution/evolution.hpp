// An evolution strategy for parameters of any kind.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind evolution_kind();

}  // namespace culmen
