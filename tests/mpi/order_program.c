// Prints numbers that show in which order ranks were combined, which depends on the algorithm:
// order_program CALLS nonblocking|persistent|blocking. The operator does not commute, although it says so.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 64 };

static void append(void* in, void* inout, int* number, MPI_Datatype* type) {
  (void)type;
  unsigned *a = in, *b = inout;
  for (int k = 0; k < *number; ++k) b[k] = 31 * a[k] + b[k];
}

static unsigned mixed(const unsigned* numbers) {
  unsigned sum = 0;
  for (int k = 0; k < count; ++k) sum = 7 * sum + numbers[k];
  return sum;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 1, persistent = argc > 2 && strcmp(argv[2], "persistent") == 0;
  const int blocking = argc > 2 && strcmp(argv[2], "blocking") == 0;
  unsigned mine[count], all[count] = {0}, at_root[count] = {0};
  int rank;
  MPI_Op op;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Op_create(append, 1, &op);
  for (int k = 0; k < count; ++k) mine[k] = (unsigned)(rank + 2 * k + 1);
  for (int call = 0; call < calls; ++call) {
    MPI_Request requests[2];
    if (persistent) {
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
      MPI_Allreduce_init(mine, all, count, MPI_UNSIGNED, op, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
      MPI_Reduce_init(mine, at_root, count, MPI_UNSIGNED, op, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
      for (int k = 0; k < 2; ++k) MPI_Start(&requests[k]), MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
      for (int k = 0; k < 2; ++k) MPI_Request_free(&requests[k]);
#endif
    } else if (blocking) {
      MPI_Allreduce(mine, all, count, MPI_UNSIGNED, op, MPI_COMM_WORLD);
      MPI_Reduce(mine, at_root, count, MPI_UNSIGNED, op, 0, MPI_COMM_WORLD);
    } else {
      MPI_Iallreduce(mine, all, count, MPI_UNSIGNED, op, MPI_COMM_WORLD, &requests[0]);
      MPI_Ireduce(mine, at_root, count, MPI_UNSIGNED, op, 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  }
  if (rank == 0) printf("order %u %u\n", mixed(all), mixed(at_root));
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
