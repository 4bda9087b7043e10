// Optimizers of other libraries. The Python package registers a function that makes them.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Receives name ("optuna:TPESampler"), space, seed, options and terms. Throws InputError if it cannot make this.
using ForeignMaker = std::function<std::unique_ptr<Optimizer>(const std::string&, const Space&, std::uint64_t,
                                                              const OptimizerOptions&, const Terms&)>;

/// Whether the name begins with that of a library: nevergrad, optuna, pagmo, pycma, pygmo.
bool is_foreign(const std::string& name);
/// Call this once, before the first one is made.
void set_foreign_maker(ForeignMaker maker);
/// Throws InputError if no maker was set.
std::unique_ptr<Optimizer> make_foreign(const std::string& name, const Space& space, std::uint64_t seed,
                                        const OptimizerOptions& options, const Terms& terms);

}  // namespace culmen
