// One call of each of two functions with each of many peers. The table of calls must have an entry for each, and find
// it quickly. It needs no MPI at run time: `entries_program PEERS`.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpiprobe/record.h"

const uint8_t probe_row_kinds[probe_most_functions];
void probe_count_thread(uint64_t begin) { (void)begin; }
void probe_add_time(unsigned kind, uint64_t begin, uint64_t end) { (void)kind, (void)begin, (void)end; }

int main(int count, char** words) {
  const int peers = count > 1 ? atoi(words[1]) : 1000;
  probe_profile = calloc(1, sizeof *probe_profile);
  for (int again = 0; again < 2; ++again) {
    for (int peer = 0; peer < peers; ++peer) {
      for (unsigned function = 3; function < 5; ++function) probe_record(function, 0, 1000, peer, 10, 12);
    }
  }
  unsigned entries = 0;
  for (unsigned k = 0; k < probe_most_entries; ++k) entries += probe_profile->entries[k].calls == 2;
  printf("%u entries with two calls, %lu calls without an entry\n", entries,
         (unsigned long)probe_profile->header.uncounted);
  return entries != 2U * (unsigned)peers || probe_profile->header.uncounted != 0;
}
