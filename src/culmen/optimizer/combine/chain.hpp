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

/// The first optimizer works for its share of the evaluations; the next begins at the best that was found, and so on;
/// the last one goes on for ever. An option belongs to a link by its prefix, "cmaes.population"; each link has the
/// option `evaluations` besides its own, without which it gets an equal share of those that are known to come, or,
/// where none are known, ends when 100 (n + 1) have brought nothing better: in a row where the terms are not
/// generational, else of one block of as many after the other. n: parameters. Cancelled and failed evaluations count;
/// what does not fulfil the space's constraints is not given (unless the terms' yield says that it is evaluated), and
/// does not count.
/// Where the terms are generational, a link begins when the one before has been told everything; else once there is a
/// result to begin at, and it hears of what comes late. Throws InputError as make_optimizer() does, and for an option
/// without a link.
std::unique_ptr<Optimizer> make_chain(const std::string& name, const Space& space, std::uint64_t seed,
                                      const OptimizerOptions& options, const Terms& terms);

}  // namespace culmen
