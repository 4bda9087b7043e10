// Descents by gradients.
#pragma once
#include "culmen/optimizer/methods/local/local_search.hpp"

namespace culmen::local {

/// - steepest: down the gradient
/// - conjugate: conjugate gradients of Polak and Ribière, restarted if they lose conjugacy (PR+: Nocedal and Wright,
///   "Numerical Optimization", 2006, section 5.2)
/// - bfgs: quasi-Newton steps of Broyden, Fletcher, Goldfarb and Shanno (same book, section 6.1), each to the minimum
/// of
///   the model inside the bounds
enum class GradientMethod : unsigned char { steepest, conjugate, bfgs };

/// Alternates between a gradient and a line search. Gradients are forward differences, evaluated in parallel. When they
/// give no further improvement, central differences follow until the end. The first gradient of bfgs is central too,
/// and its second differences initialise the model. fan: the number of line-search steps that are tried in parallel.
std::unique_ptr<LocalSearch> gradient_search(GradientMethod method, const Start& start, int fan);

}  // namespace culmen::local
