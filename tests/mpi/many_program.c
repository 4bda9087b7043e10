// Calls on many communicators at a time: many_program COMMUNICATORS CALLS. Prints the bytes of the heap at rank 0.
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int count = argc > 1 ? atoi(argv[1]) : 10, calls = argc > 2 ? atoi(argv[2]) : 1;
  MPI_Comm* const copies = calloc((size_t)count, sizeof *copies);
  int rank, number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < count; ++k) MPI_Comm_dup(MPI_COMM_WORLD, &copies[k]);
  for (int call = 0; call < calls; ++call)
    for (int k = 0; k < count; ++k) MPI_Bcast(&number, 1, MPI_INT, 0, copies[k]);
  if (rank == 0) printf("heap %zu\n", mallinfo2().uordblks);
  for (int k = 0; k < count; ++k) MPI_Comm_free(&copies[k]);
  free(copies);
  MPI_Finalize();
  return 0;
}
