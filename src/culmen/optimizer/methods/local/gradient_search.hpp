// Descents by gradients.
#pragma once
#include "culmen/optimizer/methods/local/local_search.hpp"

namespace culmen::local {

/// steepest: down the gradient. conjugate: conjugate gradients of Polak and Ribière, begun again where they lose
/// themselves (PR+: Nocedal and Wright, "Numerical Optimization", 2006, section 5.2). bfgs: quasi-Newton steps of
/// Broyden, Fletcher, Goldfarb and Shanno (there, section 6.1), each the minimum of the model inside the bounds.
enum class GradientMethod : unsigned char { steepest, conjugate, bfgs };

/// By turns a gradient, of forward differences evaluated at once, and a line search. Where forward differences bring
/// nothing more it goes on by central ones, which end it; the first gradient of bfgs is central too, and its second
/// differences begin the model. fan: how many steps of a line search are tried at once.
std::unique_ptr<LocalSearch> gradient_search(GradientMethod method, const Start& start, int fan);

}  // namespace culmen::local
