// Optimizers one after the other.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Whether a name means a chain: "evolution,cmaes,lm".
bool is_chain(std::string_view name);
/// The optimizers of a chain, in order, without the spaces around them.
std::vector<std::string> links_of(std::string_view name);

/// Each optimizer (a link) works for its share of the evaluations. The next one starts at the best point found so far;
/// the last one never ends. The prefix of an option names its link, as in "cmaes.population".
///
/// Each link has an option `evaluations` besides its own. Without it, the link gets an equal share of the budget.
/// Without a budget, it ends after 100 (n + 1) evaluations that improved nothing, for n parameters: consecutive ones
/// without generations, otherwise a whole block of this size. Cancelled and failed evaluations count. Candidates that
/// violate the space's constraints are neither given nor counted, unless the terms say that they are evaluated.
///
/// With generations, a link begins when all candidates of the one before have been told. Otherwise it begins as soon as
/// there is a result to start at, and it hears the late results. Throws InputError like make_optimizer(), and for an
/// option without a link.
std::unique_ptr<Optimizer> make_chain(const std::string& name, const Space& space, std::uint64_t seed,
                                      const OptimizerOptions& options, const Terms& terms);

}  // namespace culmen
