/* collective_bound allreduce|bcast BYTES CALLS OUTPUT: a program that spends its time in one collective, with a little
 * work between the calls. One JSON line in the file OUTPUT: seconds of the first and of the second half of the calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double *mine, *all;
static int count, rank, reduces;

static double work(double sum) {
  for (int k = 0; k < 200; ++k) sum = 0.5 * (sum + mine[k % count]);
  return sum;
}

static double half(int calls) {
  double sum = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int k = 0; k < calls; ++k) {
    mine[0] = sum = work(sum);
    if (reduces) MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    else MPI_Bcast(mine, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime() - begin;
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  const int calls = n == 5 ? atoi(words[3]) : 0;
  count = n == 5 ? atoi(words[2]) / (int)sizeof *mine : 0;
  if (calls < 2 || count < 1) {
    fprintf(stderr, "usage: collective_bound allreduce|bcast BYTES CALLS OUTPUT\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  reduces = strcmp(words[1], "allreduce") == 0;
  mine = calloc((size_t)count, sizeof *mine), all = calloc((size_t)count, sizeof *all);
  if (mine == NULL || all == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  // Memory that was never written is one page of zeros, which is read faster. Some algorithms write it at the root.
  for (int k = 0; k < count; ++k) mine[k] = all[k] = 1 + k;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double first = half(calls / 2), second = half(calls / 2);
  FILE* const out = rank == 0 ? fopen(words[4], "w") : NULL;
  if (out != NULL) fprintf(out, "{\"first_s\": %.6f, \"second_s\": %.6f}\n", first, second), fclose(out);
  free(mine), free(all);
  MPI_Finalize();
  return 0;
}
