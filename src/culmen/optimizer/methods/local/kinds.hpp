// The optimizers that are multi-starts of a local search.
#pragma once
#include "culmen/optimizer/core/kind.hpp"

namespace culmen {

OptimizerKind bfgs_kind();
OptimizerKind bobyqa_kind();
OptimizerKind brent_step_kind();
OptimizerKind conjugate_gradient_kind();
OptimizerKind gradient_kind();
OptimizerKind nelder_mead_kind();
OptimizerKind slsqp_kind();

}  // namespace culmen
