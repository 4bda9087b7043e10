// Every parameter on its own.
#pragma once
#include "culmen/optimizer/methods/local/local_search.hpp"

namespace culmen::local {

/// For values that are sums of functions of one parameter each, with many minima: a global search along each axis (see
/// Axis), one place of every parameter in a turn, the improvements joined in the next. It needs some tens of
/// evaluations a parameter where others need exponentially many. Elsewhere it is over as soon as a joint improvement is
/// not what the parts promised and does not help. start.step has no meaning.
std::unique_ptr<LocalSearch> axis_search(const Start& start);

}  // namespace culmen::local
