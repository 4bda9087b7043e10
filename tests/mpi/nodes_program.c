// Which ranks send to which with an algorithm of MPICH: nodes_program COLLECTIVE/NAME:VARIABLE=VALUE,VARIABLE=VALUE …
// MPICH sends messages between nodes with UCX, whose function this program replaces. For each algorithm, it prints the
// number of messages and their bytes: "gather/binomial 1>0 1x256 3>2 1x256", or "gather/binomial refused".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 16, items = 64 };
static const void* ends[most];
static int learned = -1;  // the rank to which the messages go
static int counts;        // whether messages count
static long messages[most], bytes[most], unknown;

void* ucp_tag_send_nbx(const void* end, const void* data, size_t n, uint64_t tag, const void* more);
__attribute__((visibility("default"))) void* ucp_tag_send_nbx(const void* end, const void* data, size_t n, uint64_t tag,
                                                              const void* more) {
  static void* (*next)(const void*, const void*, size_t, uint64_t, const void*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "ucp_tag_send_nbx");
  if (learned >= 0) ends[learned] = end;
  if (counts) {
    int to = 0;
    while (to < most && ends[to] != end) ++to;
    if (to < most) {
      ++messages[to];
      bytes[to] += (long)n;
    } else {
      ++unknown;
    }
  }
  return next(end, data, n, tag, more);
}

static int rank, size;
static int a[most * items], b[most * items], numbers[most], places[most];
static MPI_Datatype types[most];

static int call(const char* name, int n) {
#define IS(word) \
  if (strcmp(name, word) == 0) return
  const MPI_Comm world = MPI_COMM_WORLD;
  for (int k = 0; k < size; ++k) numbers[k] = n, places[k] = k * n, types[k] = MPI_INT;
  IS("barrier") MPI_Barrier(world);
  IS("bcast") MPI_Bcast(a, n, MPI_INT, 0, world);
  IS("reduce") MPI_Reduce(a, b, n, MPI_INT, MPI_SUM, 0, world);
  IS("allreduce") MPI_Allreduce(a, b, n, MPI_INT, MPI_SUM, world);
  IS("gather") MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, 0, world);
  IS("gatherv") MPI_Gatherv(a, n, MPI_INT, b, numbers, places, MPI_INT, 0, world);
  IS("scatter") MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, 0, world);
  IS("scatterv") MPI_Scatterv(a, numbers, places, MPI_INT, b, n, MPI_INT, 0, world);
  IS("allgather") MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, world);
  IS("allgatherv") MPI_Allgatherv(a, n, MPI_INT, b, numbers, places, MPI_INT, world);
  IS("alltoall") MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, world);
  IS("alltoallv") MPI_Alltoallv(a, numbers, places, MPI_INT, b, numbers, places, MPI_INT, world);
  IS("alltoallw") MPI_Alltoallw(a, numbers, places, types, b, numbers, places, types, world);
  IS("reduce_scatter") MPI_Reduce_scatter(a, b, numbers, MPI_INT, MPI_SUM, world);
  IS("reduce_scatter_block") MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_SUM, world);
  IS("scan") MPI_Scan(a, b, n, MPI_INT, MPI_SUM, world);
  IS("exscan") MPI_Exscan(a, b, n, MPI_INT, MPI_SUM, world);
  return MPI_ERR_ARG;
}

static void learn(void) {
  for (int other = 0; other < size; ++other) {
    int in = 0;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request);
    learned = other;
    MPI_Send(&rank, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
    learned = -1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/// Through MPI_T: a value counts for the next calls.
static void set(const char* name, int value) {
  int number, count;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index(name, &number) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(number, NULL, &handle, &count) != MPI_SUCCESS ||
      MPI_T_cvar_write(handle, &value) != MPI_SUCCESS) {
    fprintf(stderr, "there is no %s\n", name);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_T_cvar_handle_free(&handle);
}

/// MPI_Gather refuses no call.
static void show(const char* label, int refused) {
  static long all[2][most * most], faults[2 * most];
  const long own[2] = {unknown, refused};
  long lost = 0, refusals = 0;
  MPI_Gather(messages, most, MPI_LONG, all[0], most, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Gather(bytes, most, MPI_LONG, all[1], most, MPI_LONG, 0, MPI_COMM_WORLD);
  MPI_Gather(own, 2, MPI_LONG, faults, 2, MPI_LONG, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  for (int k = 0; k < size; ++k) lost += faults[2 * k], refusals += faults[2 * k + 1];
  printf("%s%s%s", label, lost > 0 ? " to nobody" : "", refusals > 0 ? " refused" : "");
  for (int from = 0; from < size && refusals == 0; ++from) {
    for (int to = 0; to < size; ++to) {
      const int k = from * most + to;
      if (all[0][k] > 0) printf(" %d>%d %ldx%ld", from, to, all[0][k], all[1][k]);
    }
  }
  printf("\n");
}

int main(int n, char** words) {
  int provided;
  MPI_Init(&n, &words);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  learn();
  for (int k = 1; k < n; ++k) {
    const char* const label = strtok(words[k], ":");
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(label, "/"), label);
    unknown = 0;
    memset(messages, 0, sizeof messages);
    memset(bytes, 0, sizeof bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    for (char* variable; (variable = strtok(NULL, "=")) != NULL;) set(variable, atoi(strtok(NULL, ",")));
    counts = 1;
    const int refused = call(name, items) != MPI_SUCCESS;
    counts = 0;
    show(label, refused);
  }
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
