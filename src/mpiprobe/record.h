// What the wrappers call. Nothing here prints, allocates after MPI_Init, or changes what the program sees.
#pragma once
#include <mpi.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "mpiprobe/layout.h"

#define PROBE_PUBLIC __attribute__((visibility("default")))

extern const char* const probe_names[];
extern const unsigned probe_functions;
extern void* probe_real[];
/// Whether this thread is in a wrapper: MPI's own calls of MPI do not count.
extern __thread int probe_inside;
extern int probe_invariant;  // the processor counts at a constant rate

static inline uint64_t probe_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t probe_ticks(void) {
#if defined(__x86_64__)
  if (probe_invariant) return __rdtsc();
#endif
  return probe_nanoseconds();
}

/// MPI's own function. It is looked up at the first call, because the program may load MPI late.
void* probe_find(const char* name);
static inline void* probe_function(unsigned number) {
  void* real = __atomic_load_n(&probe_real[number], __ATOMIC_RELAXED);
  if (real != 0) return real;
  real = probe_find(probe_names[number]);
  __atomic_store_n(&probe_real[number], real, __ATOMIC_RELAXED);
  return real;
}

/// The number of a communicator in the file; the last number stands for those without room.
unsigned probe_communicator(MPI_Comm communicator);
uint64_t probe_group_size(unsigned communicator);
int probe_group_rank(unsigned communicator);
/// Of so many counts as the communicator has ranks.
uint64_t probe_sum_of(const int* counts, unsigned communicator);
uint64_t probe_large_sum_of(const MPI_Count* counts, unsigned communicator);
#define probe_sum(counts, communicator) \
  _Generic((counts)[0], int: probe_sum_of, MPI_Count: probe_large_sum_of)((const void*)(counts), communicator)
uint64_t probe_size_of(MPI_Datatype datatype);
/// -1 for MPI_PROC_NULL, -2 for MPI_ANY_SOURCE, whatever their values.
static inline int probe_peer(int rank) { return rank == MPI_PROC_NULL ? -1 : rank == MPI_ANY_SOURCE ? -2 : rank; }
/// colour: -1 if there is none.
void probe_created(unsigned parent, MPI_Comm made, const char* how, int colour);
void probe_record(unsigned function, unsigned communicator, uint64_t bytes, int peer, uint64_t ticks);
