// Three phases: computes without MPI; rank 1 waits for rank 0, which sleeps as soon as rank 1 waits; both reduce again
// and again. Rank 1 prints when each phase ended, in seconds since MPI_Init. An argument: seconds without MPI at the
// end.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double start;

static double now(void) { return MPI_Wtime() - start; }

static void rest(double seconds) {
  const struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&t, NULL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  start = MPI_Wtime();
  int rank, size, word = 0, there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rest(0.4);
  const double computed = now();
  if (size != 2) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) {
    MPI_Recv(&there, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    rest(0.4);
    MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &there, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  const double received = now();
  int on = 1, all;
  do {
    if (rank == 0) on = now() < received + 0.4;
    MPI_Allreduce(&on, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  } while (all);
  if (rank == 1) printf("phases %.9f %.9f %.9f\n", computed, received, now());
  if (argc > 1) rest(atof(argv[1]));
  MPI_Finalize();
  return 0;
}
