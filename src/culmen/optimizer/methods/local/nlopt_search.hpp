// NLopt's local searches.
#pragma once
#include "culmen/optimizer/methods/local/local_search.hpp"

namespace culmen::local {

/// - slsqp: sequential quadratic programming with gradients (Kraft, DFVLR-FB 88-28, 1988)
/// - bobyqa: quadratic models (Powell, DAMTP 2009/NA06)
/// - nelder_mead: the simplex (Nelder and Mead, Computer Journal 7 (1965) 308) inside bounds (Box 1965)
/// - sbplx: the simplex in subspaces (Rowan, Functional stability analysis of numerical algorithms, 1990)
enum class NloptMethod : unsigned char { slsqp, bobyqa, nelder_mead, sbplx };

/// NLopt (Johnson, https://github.com/stevengj/nlopt) in a Fiber. Gradients are forward differences; one turn evaluates
/// all their points and the value. The first gradient is central, because its curvatures define the step sizes. When
/// forward differences give no further improvement, the library is restarted at the current point with central ones.
/// Failures count as worse than all values so far.
std::unique_ptr<LocalSearch> nlopt_search(NloptMethod method, const Start& start);

}  // namespace culmen::local
