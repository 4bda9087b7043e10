// Four ranks make communicators that have the same name and size as another one.
#include <mpi.h>

int main(int n, char** words) {
  MPI_Init(&n, &words);
  int rank, sent[16] = {0}, got[16];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_low = rank < 2, half[2] = {is_low ? 0 : 2, is_low ? 1 : 3};
  MPI_Group all, mine;
  MPI_Comm of_half, grid, row;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, half, &mine);
  MPI_Comm_create(MPI_COMM_WORLD, mine, &of_half);
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){2, 2}, (int[]){0, 0}, 0, &grid);
  MPI_Cart_sub(grid, (int[]){0, 1}, &row);
  for (int k = 0; k < 60; ++k) {
    if (is_low) MPI_Allreduce(sent, got, 16, MPI_INT, MPI_SUM, of_half);
    else MPI_Bcast(sent, 16, MPI_INT, 0, of_half);
    MPI_Allreduce(sent, got, 16, MPI_INT, MPI_SUM, row);
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
  MPI_Comm_free(&of_half);
  MPI_Group_free(&mine);
  MPI_Group_free(&all);
  MPI_Finalize();
  return 0;
}
