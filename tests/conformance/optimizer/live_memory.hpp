// How much memory this program holds.
#pragma once
#include <cstddef>

#include "culmen/optimizer/optimizer.hpp"

namespace culmen::conformance {

/// That an optimizer may add in 100 000 tells, after a tenth of them.
inline std::size_t allowed_bytes(const Optimizer& optimizer) {
  // Of auto's members several have restarts, each with a larger population.
  return optimizer.name() == "auto" ? 1 << 21 : 1 << 19;
}

/// Bytes that were allocated on the heap and not yet freed, in all threads; also under a sanitizer.
std::size_t live_bytes();

}  // namespace culmen::conformance
