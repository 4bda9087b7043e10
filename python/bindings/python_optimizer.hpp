// An optimizer of a Python library, made by culmen.adapters, behind culmen's own interface.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::bindings {

/// A ForeignMaker. Takes the interpreter's lock itself. Only jobs call the library.
std::unique_ptr<Optimizer> make_python_optimizer(const std::string& name, const Space& space, std::uint64_t seed,
                                                 const OptimizerOptions& options, const Terms& terms);

}  // namespace culmen::bindings
