// A separate search along each parameter.
#pragma once
#include "culmen/optimizer/methods/local/local_search.hpp"

namespace culmen::local {

/// For sums of functions of one parameter each, with many minima. It runs a global search along each axis (see Axis):
/// each turn evaluates one place of every parameter, and the next turn joins the improvements. It needs some tens of
/// evaluations for each parameter; others need exponentially many. On other functions it ends as soon as a joint
/// improvement differs from the sum of its parts and does not help. start.step is ignored.
std::unique_ptr<LocalSearch> axis_search(const Start& start);

}  // namespace culmen::local
