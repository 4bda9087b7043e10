// Several collective functions in turns, on one communicator.
#include <mpi.h>

enum { rounds = 100 };

int main(int n, char** words) {
  int mine = 1, sum = 0;
  MPI_Init(&n, &words);
  for (int k = 0; k < rounds; ++k) {
    MPI_Bcast(&mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
