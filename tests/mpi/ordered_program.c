// Prints a number that shows in which order ranks were added up, which depends on the algorithm of MPI_Allreduce:
// ordered_program CALLS [crash NUMBER] [hang NUMBER]. With this number, it ends with an error, or does not end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { count = 64 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double values[] = {1, 1e16, -1e16, 3, 5e15};
  double mine[count], all[count] = {0};
  unsigned order = 0;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < count; ++k) mine[k] = (1 + k % 7) * values[(rank + k) % 5];
  for (int call = 0; call < atoi(argv[1]); ++call) MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < count; ++k) order = (7 * order + (unsigned)(long long)all[k]) % 1000003;
  for (int k = 2; k + 1 < argc; k += 2) {
    if (strtoul(argv[k + 1], NULL, 10) != order + 1) continue;
    if (strcmp(argv[k], "crash") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    for (;;) pause();
  }
  if (rank == 0) printf("order = %u\n", order + 1);
  MPI_Finalize();
  return 0;
}
