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
extern int probe_invariant;               // the processor counts at a constant rate
extern struct probe_file* probe_profile;  // null: nothing is recorded

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

/// An object of Open MPI by its symbol. The program may have a copy, which MPI then uses instead of its own.
void* probe_object(const char* symbol);
/// Whether a call of PMPI_… from this address counts. It does if a Fortran binding calls, for it calls PMPI for the
/// program, or if the program itself does. Calls by the MPI itself and by other profilers do not count.
int probe_counts(const void* caller);

/// For rare things, such as a new communicator.
void probe_lock(void);
void probe_unlock(void);

static inline uint64_t probe_mixed(uint64_t x) {
  x *= UINT64_C(0x9e3779b97f4a7c15);
  return x ^ (x >> 29);
}

void probe_begin_communicators(void);
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
/// The entry; null if there is none.
struct probe_entry* probe_record(unsigned function, unsigned communicator, uint64_t bytes, int peer, uint64_t ticks);

extern int probe_several_threads;  // may call MPI at a time
static inline void probe_add(uint64_t* to, uint64_t more) {
  if (probe_several_threads) __atomic_fetch_add(to, more, __ATOMIC_RELAXED);
  else *to += more;
}

void probe_begin_requests(void);
/// The function of this entry started the request.
void probe_started(MPI_Request request, struct probe_entry* entry);
void probe_freed(MPI_Request request);

/// The requests of a wait or a test.
struct probe_waits {
  uint32_t first;
  unsigned known, complete, unknown;
};
/// Before the call, because it overwrites the handles.
struct probe_waits probe_take(int count, const MPI_Request* handles);
/// After the call. Its time counts for the requests that ended, or for all if none has ended, in equal parts. ended:
/// the number of requests that ended; -1: all.
void probe_charge(const struct probe_waits* waits, const MPI_Request* handles, int ended, uint64_t ticks,
                  struct probe_entry* wait);
