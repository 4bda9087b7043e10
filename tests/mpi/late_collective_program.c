// Rank 0 comes late to nonblocking and persistent collectives, and the others wait for them. Rank 1 prints by how much
// rank 0 came later than its own wait began, in the calls that a profile samples: one of as many as the argument.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "mpiprobe/sampling.h"

enum { rounds = 20, late_us = 3000, ways = 6, barrier = 3, persistent = 5, count = 64 };
static double came[rounds][ways];
static int rank, in[count], out[count];
static MPI_Request prepared;

static void come(int round, int way) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  came[round][way] = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void start(int way, MPI_Request* request) {
#if MPI_VERSION >= 4
  if (way == persistent) MPI_Start(&prepared), *request = prepared;
#endif
  if (way == 0) MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
  if (way == 1) MPI_Ibcast(in, count, MPI_INT, 0, MPI_COMM_WORLD, request);
  if (way == 2) MPI_Ireduce(in, out, count, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD, request);
  if (way == barrier) MPI_Ibarrier(MPI_COMM_WORLD, request);
  if (way == 4) MPI_Iscan(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if MPI_VERSION >= 4
  MPI_Request other;  // whose number another one would have, if requests were counted by their starts
  MPI_Allreduce_init(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &other);
  MPI_Allreduce_init(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &prepared);
#endif
  for (int way = 0; way < ways; ++way) {
    for (int k = 0; k < rounds; ++k) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Barrier(MPI_COMM_WORLD);  // a rank that was slow does not remain behind
      if (rank == 0) usleep(late_us), come(k, way);
      start(way, &request);
      if (rank != 0) come(k, way);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  if (rank == 0) MPI_Send(came, rounds * ways, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    static double others[rounds][ways];
    const uint64_t period = n > 1 ? strtoull(words[1], NULL, 10) : 1;
    MPI_Recv(others, rounds * ways, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("late");
    for (int way = 0; way < ways; ++way) {
      double late = 0;
      for (int k = 0; k < rounds; ++k) {
        const uint64_t before = way == barrier ? rounds : 0;  // calls of the first way, which also need all ranks
        const int is_late = others[k][way] > came[k][way];
        if (is_late && probe_is_sample(before + (uint64_t)k, period)) late += others[k][way] - came[k][way];
      }
      printf(" %.9f", late);
    }
    puts("");
  }
#if MPI_VERSION >= 4
  MPI_Request_free(&other), MPI_Request_free(&prepared);
#endif
  MPI_Finalize();
  return 0;
}
