// broadcasts_program BYTES CALLS: as many broadcasts.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  const int bytes = atoi(argv[1]), calls = atoi(argv[2]);
  char* data = calloc(1, (size_t)bytes + 1);
  for (int k = 0; k < calls; ++k) MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(data);
  MPI_Finalize();
  return 0;
}
