// Threads of OpenMP that all call MPI. Each rank prints bounds as short_threads_program.c does.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { regions = 20, threads = 3 };

int main(int n, char** words) {
  int level, rank;
  double inner = 0, entered[threads] = {0};
  MPI_Init_thread(&n, &words, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begin = MPI_Wtime();
#pragma omp parallel num_threads(threads)
  entered[omp_get_thread_num()] = MPI_Wtime();
  for (int k = 0; k < regions; ++k) {
#pragma omp parallel num_threads(threads)
    {
      int there = 1, here = 0;
      const double end = MPI_Wtime() + 1e-3;
      while (MPI_Wtime() < end) {
      }
      MPI_Sendrecv(&there, 1, MPI_INT, 0, 0, &here, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
  }
  const double end = MPI_Wtime();
  for (int k = 1; k < threads; ++k) inner += end - entered[k];
  printf("lives %d %.9f %.9f 0\n", rank, inner, (threads - 1) * (end - begin));
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
