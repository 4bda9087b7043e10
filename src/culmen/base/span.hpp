// Durations for the timers and waits of the standard library.
#pragma once
#include <chrono>

namespace culmen {

inline std::chrono::nanoseconds span_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace culmen
