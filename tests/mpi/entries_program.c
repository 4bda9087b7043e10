// Calls of each of two functions with each of many peers. Each kind of calls must have an entry if there is room, and
// the profile must find it quickly. Without room, an entry of the function must have the calls, their bytes and their
// time. It needs no MPI at run time: `entries_program PEERS`.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpiprobe/record.h"

enum { rounds = 2, first = 3, functions = 2, all_entries = probe_most_entries + probe_most_functions };
const uint8_t probe_row_kinds[probe_most_functions];
void probe_count_thread(uint64_t begin) { (void)begin; }
void probe_add_time(unsigned kind, uint64_t begin, uint64_t end) { (void)kind, (void)begin, (void)end; }

/// Calls of this function in all entries; 0 if their bytes or their time do not fit.
static uint64_t calls_of(unsigned function) {
  uint64_t calls = 0, bytes = 0, ticks = 0;
  for (unsigned k = 0; k < all_entries; ++k) {
    const struct probe_entry* const entry = &probe_profile->entries[k];
    if ((entry->key & 0xffff) != 1 + function) continue;
    calls += entry->calls;
    bytes += entry->bytes;
    ticks += entry->ticks;
  }
  return bytes == 1000 * calls && ticks == 2 * calls ? calls : 0;
}

int main(int count, char** words) {
  const unsigned peers = count > 1 ? (unsigned)atoi(words[1]) : 1000;
  probe_profile = calloc(1, sizeof *probe_profile);
  for (int again = 0; again < rounds; ++again) {
    for (unsigned peer = 0; peer < peers; ++peer) {
      for (unsigned k = 0; k < functions; ++k) {
        if (probe_record(first + k, 0, 1000, (int)peer, 10, 12) == NULL) return 2;
      }
    }
  }
  unsigned own = 0, shared = 0;
  for (unsigned k = 0; k < probe_most_entries; ++k) own += probe_profile->entries[k].calls == rounds;
  for (unsigned k = probe_most_entries; k < all_entries; ++k) shared += probe_profile->entries[k].calls != 0;
  printf("%u entries of one kind, %u of several\n", own, shared);
  for (unsigned k = 0; k < functions; ++k) {
    if (calls_of(first + k) != rounds * peers) return 3;
  }
  const unsigned kinds = functions * peers;
  return kinds < 3 * probe_most_entries / 4 ? own != kinds || shared != 0 : own < kinds / 2 && shared != functions;
}
