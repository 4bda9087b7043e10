// Rank 0 comes late to each call: the others wait. The same in a communicator of two, for each message, and in a ring.
// Rank 1 prints by how much rank 0 came later than itself, in the calls that a profile samples: one of as many as the
// argument.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "mpiprobe/sampling.h"

enum { rounds = 40, late_us = 3000, ways = 4 };
static int rank;
static double came[rounds][ways];

static void come(int round, int way) {
  struct timespec now;
  if (rank == 0) usleep(late_us);
  clock_gettime(CLOCK_MONOTONIC, &now);
  came[round][way] = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int n, char** words) {
  char byte = 0, sum[64] = {0};
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm part, ring;
  int all = 0, around = 1;
  char near[2];
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &all, &around, 0, &ring);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, 0, &part);
  for (int k = 0; k < rounds; ++k) {
    come(k, 0);
    MPI_Allreduce(MPI_IN_PLACE, sum, sizeof sum, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    come(k, 1);
    if (rank < 2) MPI_Bcast(sum, sizeof sum, MPI_CHAR, 0, part);
    come(k, 2);
    const int from = k % 2 == 0 ? MPI_ANY_SOURCE : 0;
    if (rank == 0) MPI_Send(&byte, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(&byte, 1, MPI_CHAR, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    come(k, 3);
    MPI_Neighbor_allgather(&byte, 1, MPI_CHAR, near, 1, MPI_CHAR, ring);
  }
  if (rank == 0) MPI_Ssend(came, rounds * ways, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
  if (rank == 1) {
    double others[rounds][ways], late[ways] = {0};
    MPI_Request request;
    MPI_Irecv(others, rounds * ways, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int period = n > 1 ? atoi(words[1]) : 1;
    for (int k = 0; k < rounds; ++k) {
      for (int way = 0; way < ways && probe_is_sample((uint64_t)k, (uint64_t)period); ++way) {
        if (others[k][way] > came[k][way]) late[way] += others[k][way] - came[k][way];
      }
    }
    printf("late %.9f %.9f %.9f %.9f\n", late[0], late[1], late[2], late[3]);
  }
  MPI_Finalize();
  return 0;
}
