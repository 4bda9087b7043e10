// Random lookups in a table of 256 MiB that all ranks share out. Rank 0 prints millions of lookups per second.
// docs/howto/tune-placement.md shows how culmen tunes it.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 1 << 25, LOOKUPS = 1 << 22 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const uint64_t entries = ENTRIES / size;
  uint64_t* table = malloc(entries * sizeof *table);
  if (table == NULL) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (uint64_t k = 0; k < entries; ++k) {
    table[k] = k * 0x9e3779b97f4a7c15u;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  uint64_t at = rank;
  for (int k = 0; k < LOOKUPS / size; ++k) {
    at = table[at % entries] + k;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - begun;
  if (rank == 0) {
    printf("rate = %.3f (%d)\n", LOOKUPS / seconds * 1e-6, (int)(at & 1));
  }
  free(table);
  MPI_Finalize();
  return 0;
}
