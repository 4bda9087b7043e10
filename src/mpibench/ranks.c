#define _GNU_SOURCE
#include "ranks.h"

#include <stdlib.h>
#include <time.h>

enum { tag = 7, pings = 30 };

MPI_Comm control;
int rank, size;
static MPI_Comm node;                        // the ranks of one machine, which have one clock
static int place, on_node;                   // of this rank, and the number of ranks there
static int* leaders;                         // at rank 0: the first rank of each machine
static int64_t leader_count;                 // known to all
static int64_t clock_ahead_ns, compared_ns;  // of this rank, compared with rank 0, and when that was on its own clock

void join_ranks(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
  MPI_Comm_split_type(control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &place);
  MPI_Comm_size(node, &on_node);
  leaders = malloc(sizeof(int) * (size_t)size);
  if (!leaders) MPI_Abort(control, 1);
  int64_t leads = place == 0;
  if (rank != 0) MPI_Send(&leads, 1, MPI_INT64_T, 0, tag, control);
  for (int other = 0; rank == 0 && other < size; ++other) {
    if (other != 0) MPI_Recv(&leads, 1, MPI_INT64_T, other, tag, control, MPI_STATUS_IGNORE);
    if (leads) leaders[leader_count++] = other;
  }
  broadcast(&leader_count, sizeof leader_count);
}

static int64_t own_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t now_ns(void) { return own_ns() - clock_ahead_ns; }

// Waits without using a core, because other ranks compute meanwhile.
static void wait_asleep(MPI_Request* request) {
  int done = 0, nap_ns = 1000;
  while (MPI_Test(request, &done, MPI_STATUS_IGNORE), !done) {
    nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
    if (nap_ns < 200000) nap_ns *= 2;
  }
}

// A binomial tree.
void broadcast(void* data, int bytes) {
  int mask = 1;
  for (; mask < size; mask <<= 1) {
    if (!(rank & mask)) continue;
    MPI_Request request;
    MPI_Irecv(data, bytes, MPI_BYTE, rank - mask, tag, control, &request);
    wait_asleep(&request);
    break;
  }
  for (mask >>= 1; mask > 0; mask >>= 1)
    if (rank + mask < size) MPI_Send(data, bytes, MPI_BYTE, rank + mask, tag, control);
}

// A dissemination barrier (D. Hensgen, R. Finkel, U. Manber, Int. J. Parallel Program. 17 (1988) 1).
void barrier(void) {
  char in, out = 0;
  for (int step = 1; step < size; step <<= 1)
    MPI_Sendrecv(&out, 1, MPI_BYTE, (rank + step) % size, tag, &in, 1, MPI_BYTE, (rank - step + size) % size, tag,
                 control, MPI_STATUS_IGNORE);
}

void gather(int64_t mine, int64_t* of_rank) {
  of_rank[rank] = mine;
  if (rank != 0) MPI_Send(&mine, 1, MPI_INT64_T, 0, tag, control);
  for (int other = 1; rank == 0 && other < size; ++other)
    MPI_Recv(&of_rank[other], 1, MPI_INT64_T, other, tag, control, MPI_STATUS_IGNORE);
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

void smallest_of(int64_t* mine, int count) {
  if (count == 0) return;
  int64_t* const theirs = malloc(sizeof(int64_t) * (size_t)count);
  if (!theirs) MPI_Abort(control, 1);
  for (int step = 1; step < size; step <<= 1) {
    if (rank & step) {
      MPI_Send(mine, count, MPI_INT64_T, rank - step, tag, control);
      break;
    }
    if (rank + step >= size) continue;
    MPI_Recv(theirs, count, MPI_INT64_T, rank + step, tag, control, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; ++i) mine[i] = smaller(mine[i], theirs[i]);
  }
  free(theirs);
}

int64_t smallest(int64_t mine) {
  smallest_of(&mine, 1);
  return mine;
}

int on_all(int mine) {
  int64_t all = smallest(mine);
  broadcast(&all, sizeof all);
  return all != 0;
}

/// The fastest of some round trips between a rank and rank 0 tells the difference of their clocks (F. Cristian,
/// Distributed Computing 3 (1989) 146).
static void compare_with(int other) {
  int64_t fastest = INT64_MAX;
  for (int i = 0; i < pings; ++i) {
    int64_t theirs = 0;
    if (rank == 0) {
      MPI_Recv(&theirs, 1, MPI_INT64_T, other, tag, control, MPI_STATUS_IGNORE);
      theirs = own_ns();
      MPI_Send(&theirs, 1, MPI_INT64_T, other, tag, control);
      continue;
    }
    const int64_t sent = own_ns();
    MPI_Send(&theirs, 1, MPI_INT64_T, 0, tag, control);
    MPI_Recv(&theirs, 1, MPI_INT64_T, 0, tag, control, MPI_STATUS_IGNORE);
    const int64_t received = own_ns();
    if (received - sent >= fastest) continue;
    fastest = received - sent;
    clock_ahead_ns = sent + fastest / 2 - theirs;
    compared_ns = sent + fastest / 2;
  }
}

void compare_clocks(void) {
  if (leader_count < 2) return;
  for (int k = 1; rank == 0 && k < leader_count; ++k) compare_with(leaders[k]);
  if (rank != 0 && place == 0) compare_with(0);
  int64_t both[] = {clock_ahead_ns, compared_ns};
  for (int other = 1; place == 0 && other < on_node; ++other) MPI_Send(both, 2, MPI_INT64_T, other, tag, node);
  if (place != 0) MPI_Recv(both, 2, MPI_INT64_T, 0, tag, node, MPI_STATUS_IGNORE);
  clock_ahead_ns = both[0];
  compared_ns = both[1];
}

void correct_clocks(int64_t* times, int count) {
  if (leader_count < 2) return;
  const int64_t ahead_ns = clock_ahead_ns, begin_ns = compared_ns;
  compare_clocks();
  if (compared_ns == begin_ns) return;
  const double drift = (double)(clock_ahead_ns - ahead_ns) / (double)(compared_ns - begin_ns);
  for (int i = 0; i < count; ++i) {
    const int64_t own = llabs(times[i]) + ahead_ns;
    const int64_t more = (int64_t)(drift * (double)(own - begin_ns));
    times[i] += times[i] < 0 ? more : -more;
  }
}
