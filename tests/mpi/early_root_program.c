// Who waits for whom: rank 1 comes late to a broadcast from rank 0 and to a reduction at rank 0.
#define _GNU_SOURCE
#include <mpi.h>
#include <unistd.h>

enum { rounds = 40, late_us = 5000 };

int main(int n, char** words) {
  int rank, value = 1, sum = 0;
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < rounds; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) usleep(late_us);
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) usleep(late_us);
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
