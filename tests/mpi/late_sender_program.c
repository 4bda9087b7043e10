// Rank 0 comes late to its messages, and rank 1 waits for them in every way. Each way has messages of its own size. In
// the way before the last one, the message is there before rank 1 waits. In the last way, both ranks send. Rank 1
// prints by how much rank 0 came later than itself, in the messages that a profile samples: one of as many as the
// argument.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "mpiprobe/sampling.h"

enum { rounds = 20, late_us = 3000, ways = 8, early = 6, exchange = 7, apart = 100, most = 1 << (2 * ways) };
static char there[2][most];
static double came[rounds][ways];
static int rank;
static MPI_Request prepared;

static void come(int round, int way) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  came[round][way] = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Sizes of 1, 4, 16 ... bytes, in two messages for the second way.
static int size_of(int way) { return 1 << (2 * way); }

static void both(int way) {
  MPI_Sendrecv(there[0], size_of(way), MPI_CHAR, 1 - rank, way, there[1], size_of(way), MPI_CHAR, 1 - rank, way,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int round, int way) {
  if (way != early) usleep(late_us);
  come(round, way);
  if (way == exchange) {
    both(way);
    return;
  }
  MPI_Send(there[0], size_of(way), MPI_CHAR, 1, way, MPI_COMM_WORLD);
  if (way == 1) MPI_Send(there[1], size_of(way), MPI_CHAR, 1, way + apart, MPI_COMM_WORLD);
  if (way == early) MPI_Send(there[1], 0, MPI_CHAR, 1, apart, MPI_COMM_WORLD);
}

static void receive(int round, int way) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int done = 0, index, indices[2];
  if (way == exchange) {
    come(round, way);
    both(way);
    return;
  }
  if (way == 5) MPI_Start(&prepared);
  else MPI_Irecv(there[0], size_of(way), MPI_CHAR, 0, way, MPI_COMM_WORLD, &requests[0]);
  if (way == 1) MPI_Irecv(there[1], size_of(way), MPI_CHAR, 0, way + apart, MPI_COMM_WORLD, &requests[1]);
  if (way == early) MPI_Recv(there[1], 0, MPI_CHAR, 0, apart, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  come(round, way);
  if (way == 0 || way == early) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  if (way == 1) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (way == 2) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  if (way == 3) MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
  while (way == 4 && !done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
  if (way == 5) MPI_Wait(&prepared, MPI_STATUS_IGNORE);
}

static void print_lateness(int period) {
  static double others[rounds][ways];
  MPI_Recv(others, rounds * ways, MPI_DOUBLE, 0, ways, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("late");
  for (int way = 0; way < ways; ++way) {
    double late = 0;
    for (int k = 0; k < rounds; ++k) {
      const int is_late = others[k][way] > came[k][way];
      if (is_late && probe_is_sample((uint64_t)k, (uint64_t)period)) late += others[k][way] - came[k][way];
    }
    printf(" %.9f", late);
  }
  puts("");
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Recv_init(there[0], size_of(5), MPI_CHAR, 0, 5, MPI_COMM_WORLD, &prepared);
  for (int way = 0; way < ways; ++way) {
    for (int k = 0; k < rounds; ++k) {
      MPI_Barrier(MPI_COMM_WORLD);  // a rank that was slow does not remain behind
      if (rank == 0) send(k, way);
      if (rank == 1) receive(k, way);
    }
  }
  if (rank == 0) MPI_Send(came, rounds * ways, MPI_DOUBLE, 1, ways, MPI_COMM_WORLD);
  if (rank == 1) print_lateness(n > 1 ? atoi(words[1]) : 1);
  if (rank == 1) MPI_Request_free(&prepared);
  MPI_Finalize();
  return 0;
}
