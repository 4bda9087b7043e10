#define _GNU_SOURCE
#include "ranks.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { tag = 7, pings = 30 };

MPI_Comm control;
int rank, size;
static int64_t clock_ahead_ns;  // of this rank, compared with rank 0

void join_ranks(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &control);
}

static int64_t own_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t now_ns(void) { return own_ns() - clock_ahead_ns; }

// Waits without using a core: others compute meanwhile.
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

static int64_t gathered(int64_t mine, int64_t (*join)(int64_t, int64_t)) {
  if (rank != 0) {
    MPI_Send(&mine, 1, MPI_INT64_T, 0, tag, control);
    return mine;
  }
  for (int other = 1; other < size; ++other) {
    int64_t theirs;
    MPI_Recv(&theirs, 1, MPI_INT64_T, other, tag, control, MPI_STATUS_IGNORE);
    mine = join(mine, theirs);
  }
  return mine;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t sum(int64_t a, int64_t b) { return a + b; }

int64_t smallest(int64_t mine) { return gathered(mine, smaller); }
int64_t total(int64_t mine) { return gathered(mine, sum); }

int on_all(int mine) {
  int64_t all = smallest(mine);
  broadcast(&all, sizeof all);
  return all != 0;
}

// The clocks of one machine are the same. For another one the fastest of some round trips tells the difference
// (F. Cristian, Distributed Computing 3 (1989) 146).
void compare_clocks(void) {
  char name[256] = "", first[256];
  gethostname(name, sizeof name - 1);
  memcpy(first, name, sizeof first);
  broadcast(first, sizeof first);
  int64_t here = strcmp(name, first) == 0;
  clock_ahead_ns = 0;
  for (int other = 1; other < size; ++other) {
    int64_t same = here;
    if (rank == 0) MPI_Recv(&same, 1, MPI_INT64_T, other, tag, control, MPI_STATUS_IGNORE);
    else if (rank == other) MPI_Send(&same, 1, MPI_INT64_T, 0, tag, control);
    if ((rank != 0 && rank != other) || same) continue;
    int64_t fastest = INT64_MAX;
    for (int i = 0; i < pings; ++i) {
      int64_t theirs = own_ns();
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
    }
  }
}
