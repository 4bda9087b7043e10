// Broadcasts, in the middle of which rank 1 ends: ending_program CALLS abort|signal|exit.
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int n, char** words) {
  MPI_Init(&n, &words);
  int rank, number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < atoi(words[1]); ++k) MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    if (strcmp(words[2], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(words[2], "signal") == 0) raise(SIGKILL);
    exit(7);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
