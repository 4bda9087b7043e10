// The table of calls.
#include "mpiprobe/record.h"

__thread uintptr_t probe_inside = 0;
int probe_invariant = 0;
struct probe_file* probe_profile;
int probe_several_threads = 0;

/// 0 for no bytes, otherwise 1 + the position of the highest bit.
static unsigned size_class(uint64_t bytes) { return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes); }

/// The peer is in the highest bits of a key, which must also decide.
static uint64_t place_of(uint64_t key) {
  key ^= key >> 32;
  key *= UINT64_C(0x9e3779b97f4a7c15);
  return (key ^ key >> 32) % probe_most_entries;
}

/// Without room, all further calls of a function share an entry, so that their time stays in the profile.
static struct probe_entry* shared_entry(unsigned function) {
  struct probe_entry* const entry = &probe_profile->entries[probe_most_entries + function];
  __atomic_store_n(&entry->key, 1 + function, __ATOMIC_RELAXED);
  return entry;
}

static struct probe_entry* entry_of(unsigned function, uint64_t key) {
  enum { most_tries = 64 };
  uint64_t at = place_of(key);
  for (unsigned tries = 0; tries < most_tries; ++tries, at = (at + 1) % probe_most_entries) {
    struct probe_entry* entry = &probe_profile->entries[at];
    uint64_t there = __atomic_load_n(&entry->key, __ATOMIC_RELAXED);
    if (there == key) return entry;
    if (there != 0) continue;
    if (__atomic_compare_exchange_n(&entry->key, &there, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || there == key)
      return entry;
  }
  return shared_entry(function);
}

/// The least is kept as its complement, so that 0 is "none yet".
static void raise_to(uint64_t* highest, uint64_t to) {
  uint64_t now = __atomic_load_n(highest, __ATOMIC_RELAXED);
  while (to > now && !__atomic_compare_exchange_n(highest, &now, to, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

struct probe_entry* probe_entry(unsigned function, unsigned communicator, uint64_t bytes, int peer) {
  if (probe_profile == NULL) return NULL;
  const uint64_t who = (uint64_t)(uint32_t)((peer < -2 ? -2 : peer) + 2) & 0xffffff;
  const uint64_t key = (1 + function) | (uint64_t)communicator << 16 | (uint64_t)size_class(bytes) << 32 | who << 40;
  return entry_of(function, key);
}

struct probe_entry* probe_record(unsigned function, unsigned communicator, uint64_t bytes, int peer, uint64_t begin,
                                 uint64_t end) {
  if (probe_profile == NULL) return NULL;
  const uint64_t ticks = end - begin;
  if (probe_several_threads) probe_count_thread(begin);
  probe_add_time(probe_row_kinds[function], begin, end);
  struct probe_entry* entry = probe_entry(function, communicator, bytes, peer);
  probe_add(&entry->calls, 1);
  probe_add(&entry->bytes, bytes);
  probe_add(&entry->ticks, ticks);
  raise_to(&entry->most_ticks, ticks);
  raise_to(&entry->least_ticks, ~ticks);
  return entry;
}
