// The optimizer that chooses among others by what it sees.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind auto_kind();

}  // namespace culmen
