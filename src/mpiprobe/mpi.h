// The MPI of the process, as seen by a library that is preloaded into MPI programs.
#pragma once
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/// The functions that an mpi.h declares. Open MPI 5 has those of MPI 4, but not their variants with large counts.
#define PROBE_MPI_LARGE (MPI_VERSION >= 4)
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define PROBE_MPI_4 1
#else
#define PROBE_MPI_4 (MPI_VERSION >= 4)
#endif
#define PROBE_MPI_4_1 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))
#if MPI_VERSION >= 5
typedef const int probe_partition;
#else
typedef int probe_partition;
#endif

#define PROBE_PUBLIC __attribute__((visibility("default")))

static inline uint64_t probe_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/// MPI's own function. It is looked up at the first call, because the program may load MPI late.
void* probe_find(const char* name);
#define REAL(name) ((__typeof(&name))probe_find(#name))

/// Before MPI_Init: ends the program with a sentence if it has loaded an MPI that this library was not built for. Calls
/// of such an MPI would crash.
void probe_check_mpi(void);

/// An object of Open MPI by its symbol. The program may have a copy, which MPI then uses instead of its own.
void* probe_object(const char* symbol);
#if defined(OPEN_MPI)
#define PROBE_OBJECT(symbol, otherwise) probe_object(symbol)
#else
#define PROBE_OBJECT(symbol, otherwise) (otherwise)
#endif
/// Whether a call of PMPI_… from this address counts. It counts if the program itself calls, or a Fortran binding,
/// which calls PMPI for the program. Calls by the MPI itself and by other profilers do not count.
int probe_counts(const void* caller);

/// A lock for rare events, such as a new communicator.
void probe_lock(void);
void probe_unlock(void);

static inline uint64_t probe_mixed(uint64_t x) {
  x *= UINT64_C(0x9e3779b97f4a7c15);
  return x ^ (x >> 29);
}
#define PROBE_HANDLE(handle) ((uint64_t)(uintptr_t)(handle) + 1)

/// Bytes of one element; 0 if it is no datatype.
uint64_t probe_size_of(MPI_Datatype datatype);

enum { probe_members_bytes = 64 };
/// Writes the ranks that the members of a group have in another group, for example "0-3,8". The text is cut after many
/// ranks, but remains different for each group.
void probe_write_members(char text[probe_members_bytes], MPI_Group group, MPI_Group within);
