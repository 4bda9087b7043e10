// rows_program CALLS [columns]: the ranks are a grid with two columns. Its rows and columns call collectives, or only
// its columns.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  int rank, size;
  float sent[2048] = {0}, got[2048];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm grid, row, column;
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){size / 2, 2}, (int[]){0, 0}, 0, &grid);
  MPI_Cart_sub(grid, (int[]){0, 1}, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
  for (int k = atoi(argv[1]); k > 0; --k) {
    if (argc == 2) MPI_Allreduce(sent, got, 16, MPI_FLOAT, MPI_SUM, row);
    for (int root = 0; root < 2; ++root) MPI_Bcast(sent, 2048, MPI_FLOAT, root, column);
  }
  MPI_Comm_free(&column);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return 0;
}
