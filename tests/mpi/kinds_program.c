// More kinds of calls than a profile has room for: kinds_program COMMUNICATORS. Each rank alone calls MPI_Bcast with 1
// to 2^20 bytes in each of these communicators. Then rank 0 works until at least five sixths of the run are over, and
// the other ranks wait for it.
#include <mpi.h>
#include <stdlib.h>

int main(int n, char** words) {
  MPI_Init(&n, &words);
  const double begin = MPI_Wtime();
  const int count = n > 1 ? atoi(words[1]) : 1;
  char* const bytes = calloc(1 << 20, 1);
  int rank, sum;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < count; ++k) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    for (int size = 0; size <= 20; ++size) MPI_Bcast(bytes, 1 << size, MPI_CHAR, 0, copy);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double until_here = MPI_Wtime() - begin;
  const double least_s = 0.3;  // a shorter run gets no verdict
  while (rank == 0 && MPI_Wtime() < begin + 6 * until_here + least_s) {
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(bytes);
  MPI_Finalize();
  return 0;
}
