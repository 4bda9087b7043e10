// Communicators that MPI makes while other calls run. Prints "N wrong" at rank 0.
#include <mpi.h>
#include <stdio.h>

enum { rounds = 60, count = 100 };

int main(int argc, char** argv) {
  int rank, size, wrong = 0, total = 0, data[count], sums[count];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int k = 0; k < rounds; ++k) {
    MPI_Comm later;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
    for (int i = 0; i < count; ++i) data[i] = rank == k % size ? i + k : -1;
    MPI_Bcast(data, count, MPI_INT, k % size, MPI_COMM_WORLD);
    for (int i = 0; i < count; ++i) wrong += data[i] != i + k;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(data, sums, count, MPI_INT, MPI_SUM, later);
    for (int i = 0; i < count; ++i) wrong += sums[i] != size * (i + k);
    MPI_Comm_free(&later);
  }
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", total);
  MPI_Finalize();
  return 0;
}
