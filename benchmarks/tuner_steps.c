/* tuner_steps COMMUNICATORS same|each: broadcasts on COMMUNICATORS copies of MPI_COMM_WORLD at a time. same: one on
 * each copy; each: as many on a copy as its number, from 1 on. One JSON line: the bytes of rank 0's heap. */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int n, char** words) {
  MPI_Init(&n, &words);
  const int count = n == 3 ? atoi(words[1]) : 0;
  if (count < 1) {
    fprintf(stderr, "usage: tuner_steps COMMUNICATORS same|each\n");
    return 2;
  }
  const int grows = strcmp(words[2], "each") == 0;
  MPI_Comm* const copies = calloc((size_t)count, sizeof *copies);
  int rank, number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < count; ++k) MPI_Comm_dup(MPI_COMM_WORLD, &copies[k]);
  for (int k = 0; k < count; ++k)
    for (int call = 0; call < (grows ? k + 1 : 1); ++call) MPI_Bcast(&number, 1, MPI_INT, 0, copies[k]);
  if (rank == 0) printf("{\"heap_bytes\": %zu}\n", mallinfo2().uordblks);
  MPI_Finalize();
  free(copies);
  return 0;
}
