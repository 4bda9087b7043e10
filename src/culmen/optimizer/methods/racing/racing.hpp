// Racing: the best of candidates whose values are noisy.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind racing_kind();

}  // namespace culmen
