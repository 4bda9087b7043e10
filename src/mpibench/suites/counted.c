// Preloaded into a benchmark of another project under Open MPI. It counts the calls of one collective, which
// CULMEN_COUNTED names. In MPI_Finalize, rank 0 prints a line for each message size: the functions that ran in each
// call on each rank.
//
//     # culmen: 1024 bytes: ompi_coll_base_bcast_intra_binomial
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { most_sizes = 256, most_counters = 128, tag = 29517 };

typedef struct {
  int64_t bytes, element, calls, ran[most_counters];
} counted_size;

static counted_size sizes[most_sizes], others[most_sizes];
static int size_count;
static const char* wanted;
static int64_t* other_calls;  // where the functions are counted outside the calls of the collective

__attribute__((constructor)) static void begin(void) {
  wanted = getenv("CULMEN_COUNTED");
  other_calls = counts;
  if (wanted && counter_count > most_counters) wanted = NULL;
}

static int is_wanted(const char* name) { return wanted && strcmp(wanted, name) == 0; }

static counted_size* of_size(int64_t bytes, int64_t element) {
  static int last;
  if (last < size_count && sizes[last].bytes == bytes && sizes[last].element == element) return &sizes[last];
  for (last = 0; last < size_count; ++last)
    if (sizes[last].bytes == bytes && sizes[last].element == element) return &sizes[last];
  if (size_count == most_sizes) return NULL;
  sizes[size_count].bytes = bytes;
  sizes[size_count++].element = element;
  return &sizes[last];
}

static void begin_call(int64_t count, int64_t element) {
  counted_size* const of = of_size(count * element, element);
  if (!of) return;
  ++of->calls;
  counts = of->ran;
}

static void end_call(void) { counts = other_calls; }

// Launchers and scripts also load this library, and have no MPI.
#define PRAGMA(words) _Pragma(#words)
PRAGMA(weak ompi_mpi_comm_world)
PRAGMA(weak ompi_mpi_byte)
PRAGMA(weak PMPI_Type_size)
PRAGMA(weak PMPI_Comm_rank)
PRAGMA(weak PMPI_Comm_size)
PRAGMA(weak PMPI_Send)
PRAGMA(weak PMPI_Recv)
PRAGMA(weak PMPI_Finalize)

static int64_t bytes_of(MPI_Datatype type) {
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  return bytes;
}

#define COUNTED(Name, name, count, element, parameters, arguments)   \
  PRAGMA(weak PMPI_##Name)                                           \
  __attribute__((visibility("default"))) int MPI_##Name parameters { \
    const int is_counted = is_wanted(#name);                         \
    if (is_counted) begin_call(count, element);                      \
    const int error = PMPI_##Name arguments;                         \
    if (is_counted) end_call();                                      \
    return error;                                                    \
  }

// The sizes are those of culmen's own benchmark.
COUNTED(Barrier, barrier, 0, 1, (MPI_Comm c), (c))
COUNTED(Bcast, bcast, n, bytes_of(t), (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
COUNTED(Reduce, reduce, n, bytes_of(t), (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
        (s, r, n, t, o, root, c))
COUNTED(Allreduce, allreduce, n, bytes_of(t), (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (s, r, n, t, o, c))
COUNTED(Scan, scan, n, bytes_of(t), (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (s, r, n, t, o, c))
COUNTED(Exscan, exscan, n, bytes_of(t), (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
        (s, r, n, t, o, c))
COUNTED(Reduce_scatter, reduce_scatter, n[0], bytes_of(t),
        (const void* s, void* r, const int n[], MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))
COUNTED(Reduce_scatter_block, reduce_scatter_block, n, bytes_of(t),
        (const void* s, void* r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, r, n, t, o, c))
COUNTED(Gather, gather, n, bytes_of(t),
        (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, int root, MPI_Comm c),
        (s, n, t, r, m, u, root, c))
COUNTED(Scatter, scatter, m, bytes_of(u),
        (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, int root, MPI_Comm c),
        (s, n, t, r, m, u, root, c))
COUNTED(Allgather, allgather, n, bytes_of(t),
        (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c), (s, n, t, r, m, u, c))
COUNTED(Allgatherv, allgatherv, n, bytes_of(t),
        (const void* s, int n, MPI_Datatype t, void* r, const int m[], const int d[], MPI_Datatype u, MPI_Comm c),
        (s, n, t, r, m, d, u, c))
COUNTED(Alltoall, alltoall, n, bytes_of(t),
        (const void* s, int n, MPI_Datatype t, void* r, int m, MPI_Datatype u, MPI_Comm c), (s, n, t, r, m, u, c))
COUNTED(Alltoallv, alltoallv, n[0], bytes_of(t),
        (const void* s, const int n[], const int d[], MPI_Datatype t, void* r, const int m[], const int e[],
         MPI_Datatype u, MPI_Comm c),
        (s, n, d, t, r, m, e, u, c))

// Keeps of rank 0's sizes what also ran in each call of another rank.
static void combine(int ranks) {
  for (int rank = 1; rank < ranks; ++rank) {
    memset(others, 0, sizeof others);
    PMPI_Recv(others, (int)sizeof others, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < size_count; ++i) {
      const int is_same = others[i].bytes == sizes[i].bytes && others[i].element == sizes[i].element &&
                          others[i].calls == sizes[i].calls;
      for (int k = 0; k < counter_count; ++k)
        if (!is_same || others[i].ran[k] < others[i].calls) sizes[i].ran[k] = 0;
    }
  }
}

static int is_usual_type(const counted_size* of) {
  for (int i = 0; i < size_count; ++i)
    if (sizes[i].bytes == of->bytes && sizes[i].calls > of->calls) return 0;
  return 1;
}

static void say(void) {
  for (int i = 0; i < size_count; ++i) {
    if (!is_usual_type(&sizes[i])) continue;
    printf("# culmen: %lld bytes:", (long long)sizes[i].bytes);
    for (int k = 0; k < counter_count; ++k)
      if (sizes[i].ran[k] >= sizes[i].calls) printf(" %s", counter_name(k));
    printf("\n");
  }
  fflush(stdout);
}

__attribute__((visibility("default"))) int MPI_Finalize(void) {
  int rank = 0, ranks = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (wanted && rank != 0) {
    PMPI_Send(sizes, (int)(sizeof(counted_size) * (size_t)size_count), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  } else if (wanted) {
    combine(ranks);
    say();
  }
  return PMPI_Finalize();
}
