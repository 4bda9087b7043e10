// How much memory this program holds.
#pragma once
#include <cstddef>

namespace culmen::conformance {

/// Bytes that were allocated by C++ code of this program and not yet freed, in all threads. (operator new is replaced;
/// memory from malloc does not count.)
std::size_t live_bytes();

}  // namespace culmen::conformance
