// Work that is shared out to all ranks. Rank 0 prints how many there are, and a rate that grows with their number.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  FILE* here = fopen("here", "r");  // the folder in which it was typed
  if (here == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  fclose(here);
  if (rank == 0) {
    printf("ranks = %d\nrate = %d\n", size, 10 * size);
  }
  MPI_Finalize();
  return 0;
}
