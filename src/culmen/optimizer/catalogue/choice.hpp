// Which optimizer runs when the user names none.
#pragma once
#include <string>
#include <vector>

#include "culmen/optimizer/core/info.hpp"

namespace culmen {

/// The optimizer that runs if the user names none, or "auto".
struct Chosen {
  std::string name;
  std::string why;        ///< in a few words; empty: the user named it
  bool any_time = false;  ///< without generations it searches as well, if there are many workers
  bool frugal = false;    ///< with generations it needs far fewer evaluations, which few workers do in the same time
};

/// All that can be chosen, in order of preference.
std::vector<Chosen> optimizer_choices();
/// The first of them that suits the space.
Chosen default_optimizer(const Space& space, const Yield& yield);
/// The named optimizer; for "auto" the one that suits. Throws InputError if "auto" has options but means another
/// optimizer here.
Chosen chosen_optimizer(const std::string& name, const OptimizerOptions& options, const Space& space,
                        const Yield& yield);

}  // namespace culmen
