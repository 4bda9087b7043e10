// no_choice_program CALLS: as many calls of MPI_Gatherv and MPI_Ireduce_scatter_block, and as many starts of a
// persistent MPI_Allreduce if the MPI has it.
#include <mpi.h>
#include <stdlib.h>

#if MPI_VERSION >= 4
static void start_persistent(int calls) {
  int mine = 1, sum = 0;
  MPI_Request request;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int k = 0; k < calls; ++k) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}
#else
static void start_persistent(int calls) { (void)calls; }
#endif

static void gather(int calls, int size) {
  int* const numbers = calloc(3 * (size_t)size, sizeof *numbers);
  int *const counts = numbers + size, *const places = counts + size, mine = 1;
  for (int k = 0; k < size; ++k) counts[k] = 1, places[k] = k;
  for (int k = 0; k < calls; ++k) MPI_Gatherv(&mine, 1, MPI_INT, numbers, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  free(numbers);
}

static void scatter(int calls, int size) {
  int *const mine = calloc((size_t)size, sizeof *mine), sum = 0;
  MPI_Request request;
  for (int k = 0; k < calls; ++k) {
    MPI_Ireduce_scatter_block(mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(mine);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
  int size = 0;
  const int calls = atoi(argv[1]);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  start_persistent(calls);
  scatter(calls, size);
  gather(calls, size);
  MPI_Finalize();
  return 0;
}
