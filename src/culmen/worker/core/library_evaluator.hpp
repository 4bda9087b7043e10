// Functions of the C ABI in shared libraries; see evaluator.h.
#pragma once
#include <memory>

#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// Calls the function in this process. Throws InputError if the library cannot be loaded or has no such symbol.
std::unique_ptr<Evaluator> make_library_evaluator(const SetUp& set_up);

}  // namespace culmen
