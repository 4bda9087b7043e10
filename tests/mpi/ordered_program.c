// Prints a number that shows in which order ranks were combined, which depends on the algorithm of MPI_Allreduce:
// ordered_program CALLS [crash NUMBER] [hang NUMBER]. With this number, it ends with an error, or does not end. The
// operator does not commute, although it says so.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 64 };

static void append(void* in, void* inout, int* number, MPI_Datatype* type) {
  (void)type;
  unsigned *a = in, *b = inout;
  for (int k = 0; k < *number; ++k) b[k] = 31 * a[k] + b[k];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  unsigned mine[count], all[count] = {0}, order = 0;
  int rank;
  MPI_Op op;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op_create(append, 1, &op);
  for (int k = 0; k < count; ++k) mine[k] = (unsigned)(rank + 2 * k + 1);
  for (int call = 0; call < atoi(argv[1]); ++call) MPI_Allreduce(mine, all, count, MPI_UNSIGNED, op, MPI_COMM_WORLD);
  for (int k = 0; k < count; ++k) order = 7 * order + all[k];
  for (int k = 2; k + 1 < argc; k += 2) {
    if (strtoul(argv[k + 1], NULL, 10) != order) continue;
    if (strcmp(argv[k], "crash") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    for (;;) pause();
  }
  if (rank == 0) printf("order = %u\n", order);
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
