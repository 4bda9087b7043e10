// Makes communicators, calls on them and frees them: loop_program COMMUNICATORS CALLS. Prints by how many bytes the
// heap of rank 0 has grown since half of them.
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 10, calls = argc > 2 ? atoi(argv[2]) : 1;
  int rank, number = 0;
  size_t before = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < count; ++k) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int call = 0; call < calls; ++call) MPI_Bcast(&number, 1, MPI_INT, 0, copy);
    MPI_Comm_free(&copy);
    if (k == count / 2) before = mallinfo2().uordblks;
  }
  if (rank == 0) printf("heap %ld\n", (long)mallinfo2().uordblks - (long)before);
  MPI_Finalize();
  return 0;
}
