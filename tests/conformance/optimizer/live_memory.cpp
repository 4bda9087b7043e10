#include "conformance/optimizer/live_memory.hpp"

#include <malloc.h>

// There only under a sanitizer, whose heap malloc's statistics do not see.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace culmen::conformance {

std::size_t live_bytes() {
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace culmen::conformance
