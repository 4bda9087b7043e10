// Optimizers of other libraries, which this one does not know: whoever does gives a function that makes them.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Name ("optuna:TPESampler"), space, seed, options, terms. Throws InputError for what it cannot make.
using ForeignMaker = std::function<std::unique_ptr<Optimizer>(const std::string&, const Space&, std::uint64_t,
                                                              const OptimizerOptions&, const Terms&)>;

/// Whether the name begins with that of a library: nevergrad, optuna, pagmo, pycma, pygmo.
bool is_foreign(const std::string& name);
/// Once, before the first is made.
void set_foreign_maker(ForeignMaker maker);
/// Throws InputError where there is no maker.
std::unique_ptr<Optimizer> make_foreign(const std::string& name, const Space& space, std::uint64_t seed,
                                        const OptimizerOptions& options, const Terms& terms);

}  // namespace culmen
