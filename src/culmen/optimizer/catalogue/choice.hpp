// Which optimizer runs when the user names none.
#pragma once
#include <string>
#include <vector>

#include "culmen/optimizer/core/info.hpp"

namespace culmen {

/// What runs where the user names no optimizer, or "auto".
struct Chosen {
  std::string name;
  std::string why;        ///< in a few words; empty: the user named it
  bool any_time = false;  ///< it searches as well without generations, once workers are many
  bool frugal = false;    ///< but in generations with far fewer evaluations, which few workers do in as much time
};

/// All that can be chosen, in the order in which they are thought of.
std::vector<Chosen> optimizer_choices();
/// The first of them that suits.
Chosen default_optimizer(const Space& space, const Yield& yield);
/// The name itself; of "auto" what it is here. Throws InputError where "auto" has options and is another optimizer
/// here.
Chosen chosen_optimizer(const std::string& name, const OptimizerOptions& options, const Space& space,
                        const Yield& yield);

}  // namespace culmen
