// Genetic algorithms for several objectives.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind nsga2_kind();
OptimizerKind nsga3_kind();
OptimizerKind sms_emoa_kind();

}  // namespace culmen
