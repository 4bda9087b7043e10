// A program that knows its own traffic. Its profile must say the same.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

#if defined(OWN_BARRIER)  // as profilers that are linked into a program do
int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(comm); }
#endif

static void talk(void) {
  int there[16] = {0}, back[16] = {0};
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int k = 0; k < 10; ++k)
    MPI_Sendrecv(there, 16, MPI_INT, next, 0, back, 16, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Request requests[2];
  for (int k = 0; k < 5; ++k) {
    MPI_Irecv(back, 4, MPI_INT, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(there, 4, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Send(there, 16, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void gather_all(MPI_Comm comm) {
  int ranks = 0, me = 0;
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_rank(comm, &me);
  double* all = calloc((size_t)ranks * 8, sizeof(double));
  double mine[8] = {0}, sum[8];
  int* counts = malloc((size_t)ranks * sizeof(int));
  int* places = malloc((size_t)ranks * sizeof(int));
  for (int k = 0; k < ranks; ++k) counts[k] = 2, places[k] = 2 * k;
  for (int k = 0; k < 3; ++k) MPI_Bcast(mine, 8, MPI_DOUBLE, ranks - 1, comm);
  for (int k = 0; k < 7; ++k) MPI_Allreduce(mine, sum, 8, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Reduce(mine, sum, 8, MPI_DOUBLE, MPI_SUM, 0, comm);
  MPI_Gather(mine, 8, MPI_DOUBLE, all, 8, MPI_DOUBLE, 0, comm);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 8, MPI_DOUBLE, comm);
  MPI_Scatter(all, 8, MPI_DOUBLE, me == 0 ? MPI_IN_PLACE : mine, 8, MPI_DOUBLE, 0, comm);
  MPI_Alltoall(all, 1, MPI_DOUBLE, all + ranks, 1, MPI_DOUBLE, comm);
  MPI_Alltoallv(all, counts, places, MPI_DOUBLE, all + 4 * ranks, counts, places, MPI_DOUBLE, comm);
  MPI_Barrier(comm);
  free(all);
  free(counts);
  free(places);
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  talk();
  gather_all(MPI_COMM_WORLD);
  MPI_Comm half, copy;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Comm_dup(half, &copy);
  gather_all(half);
  MPI_Barrier(copy);
  if (n > 1 && strcmp(words[1], "crash") == 0 && rank == 1) abort();
  MPI_Comm_free(&copy);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return n > 1 && strcmp(words[1], "three") == 0 ? 3 : 0;
}
