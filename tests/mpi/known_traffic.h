// For programs that know their own traffic: each call says what it should count as.
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Open MPI 5 has the functions of MPI 4 except those with large counts.
#if MPI_VERSION >= 4
#define HAS_MPI_4 1
#elif defined(OMPI_MAJOR_VERSION)
#define HAS_MPI_4 (OMPI_MAJOR_VERSION >= 5)
#else
#define HAS_MPI_4 0
#endif
#define HAS_MPI_4_1 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))

enum { most_expected = 1000 };
static struct {
  char function[64], group[160];
  long calls, bytes;
} expected[most_expected];
static int rank, size, runs = 2;

static void expect(const char* function, const char* group, long bytes) {
  int k = 0;
  while (expected[k].calls > 0 &&
         (strcmp(expected[k].function, function) != 0 || strcmp(expected[k].group, group) != 0))
    ++k;
  snprintf(expected[k].function, sizeof expected[k].function, "%s", function);
  snprintf(expected[k].group, sizeof expected[k].group, "%s", group);
  ++expected[k].calls;
  expected[k].bytes += bytes;
}

/// group: the communicator, window or file, as the profile names it; "" for none.
#define CALL(function, group, bytes, ...)                                          \
  do {                                                                             \
    expect(#function, group, (long)(bytes));                                       \
    if (function(__VA_ARGS__) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, __LINE__); \
  } while (0)

/// Starts a persistent request of this function and waits for it, more than once, and frees it.
#define RUN(function, group, bytes, request)              \
  do {                                                    \
    for (int run = 0; run < runs; ++run) {                \
      expect(#function " started", group, (long)(bytes)); \
      CALL(MPI_Start, "", 0, request);                    \
      CALL(MPI_Wait, "", 0, request, MPI_STATUS_IGNORE);  \
    }                                                     \
    CALL(MPI_Request_free, "", 0, request);               \
  } while (0)

static void begin(int* n, char*** words) {
  MPI_Init(n, words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

/// Writes what this rank should have counted.
static void end(void) {
  char path[64];
  snprintf(path, sizeof path, "expected.%d", rank);
  MPI_Finalize();
  FILE* const file = fopen(path, "w");
  for (int k = 0; expected[k].calls > 0; ++k)
    fprintf(file, "%s\t%s\t%ld\t%ld\n", expected[k].function, expected[k].group, expected[k].calls, expected[k].bytes);
  fclose(file);
}
