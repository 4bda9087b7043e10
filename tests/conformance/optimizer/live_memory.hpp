// How much memory this program holds.
#pragma once
#include <cstddef>

namespace culmen::conformance {

/// Bytes that were allocated on the heap and not yet freed, in all threads; also under a sanitizer.
std::size_t live_bytes();

}  // namespace culmen::conformance
