// Which calls are samples.
#pragma once
#include <stdint.h>

/// Whether the call after this number of calls is a sample. There is one in each period of calls. The first is in the
/// middle of its period, because the first calls open connections. The others are at places that follow no pattern: a
/// program may call several functions in turns, and each of them must have samples. All ranks find the same places.
static inline int probe_is_sample(uint64_t calls, uint64_t period) {
  const uint64_t round = calls / period;
  const uint64_t place = round == 0 ? period / 2 : (round * UINT64_C(0x9e3779b97f4a7c15) >> 32) % period;
  return calls % period == place;
}
