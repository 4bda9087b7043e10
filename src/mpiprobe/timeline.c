// When the rank was in MPI: the time in each kind of function, in bins of equal width. If the run outlasts the bins,
// they become twice as wide, so that half of them are free again.
#include <string.h>

#include "mpiprobe/record.h"

enum { first_shift = 20 };  // a million ticks: less than a millisecond

void probe_begin_timeline(void) { probe_profile->header.bin_shift = first_shift; }

/// Adds without an atomic operation, which would cost as much as everything else. If two threads add to a bin at the
/// same moment, one of the times is lost.
static void add(uint64_t* to, uint64_t more) {
  __atomic_store_n(to, __atomic_load_n(to, __ATOMIC_RELAXED) + more, __ATOMIC_RELAXED);
}

/// With the lock. A thread that comes or goes in the first of two bins has all of the second one, or nothing of it.
static void join_threads(uint32_t shift) {
  int64_t* const ticks = probe_profile->thread_ticks;
  int32_t* const changes = probe_profile->thread_changes;
  for (unsigned bin = 0; bin < probe_most_bins / 2; ++bin) {
    const unsigned first = 2 * bin, second = first + 1;
    ticks[bin] = ticks[first] + ticks[second] + ((int64_t)changes[first] << shift);
    changes[bin] = changes[first] + changes[second];
  }
  memset(ticks + probe_most_bins / 2, 0, sizeof probe_profile->thread_ticks / 2);
  memset(changes + probe_most_bins / 2, 0, sizeof probe_profile->thread_changes / 2);
}

/// Time that another thread adds meanwhile may end up in the wrong bin.
static void widen(uint32_t shift) {
  struct probe_file* const profile = probe_profile;
  probe_lock();
  if (profile->header.bin_shift == shift) {
    for (unsigned bin = 0; bin < probe_most_bins / 2; ++bin) {
      for (unsigned kind = 0; kind < probe_kinds; ++kind)
        profile->timeline[bin][kind] = profile->timeline[2 * bin][kind] + profile->timeline[2 * bin + 1][kind];
    }
    memset(profile->timeline[probe_most_bins / 2], 0, sizeof profile->timeline / 2);
    join_threads(shift);
    __atomic_store_n(&profile->header.bin_shift, shift + 1, __ATOMIC_RELEASE);
  }
  probe_unlock();
}

uint32_t probe_reach(uint64_t since_start) {
  uint32_t shift = __atomic_load_n(&probe_profile->header.bin_shift, __ATOMIC_ACQUIRE);
  while (since_start >> shift >= probe_most_bins) {
    widen(shift);
    shift = __atomic_load_n(&probe_profile->header.bin_shift, __ATOMIC_ACQUIRE);
  }
  return shift;
}

void probe_add_time(unsigned kind, uint64_t begin, uint64_t end) {
  struct probe_file* const profile = probe_profile;
  const uint64_t start = profile->header.start_ticks;
  if (end <= begin || begin < start) return;
  begin -= start;
  end -= start;
  const uint32_t shift = probe_reach(end);
  const uint64_t last = end >> shift;
  for (uint64_t bin = begin >> shift; bin < last; ++bin) {
    const uint64_t next = (bin + 1) << shift;
    add(&profile->timeline[bin][kind], next - begin);
    begin = next;
  }
  add(&profile->timeline[last][kind], end - begin);
}
