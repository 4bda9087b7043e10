// Bayesian optimization.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind bayes_kind();

}  // namespace culmen
