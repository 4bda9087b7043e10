// Who waits for whom: rank 1 comes late to a broadcast from rank 0 and to a reduction at rank 0. It is late from the
// message on that rank 0 sends before the call: on a busy machine, rank 0 may come out of a barrier late.
#define _GNU_SOURCE
#include <mpi.h>
#include <unistd.h>

enum { rounds = 40, late_us = 5000 };

static int rank;

static void come(void) {
  int word = 0;
  if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), usleep(late_us);
}

int main(int n, char** words) {
  int value = 1, sum = 0;
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < rounds; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    come();
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    come();
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
