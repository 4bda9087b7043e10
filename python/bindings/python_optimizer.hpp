// An optimizer of a Python library: what culmen.adapters made, behind the interface of culmen's own.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::bindings {

/// A ForeignMaker. Takes the interpreter's lock itself; the library is called in jobs only.
std::unique_ptr<Optimizer> make_python_optimizer(const std::string& name, const Space& space, std::uint64_t seed,
                                                 const OptimizerOptions& options, const Terms& terms);

}  // namespace culmen::bindings
