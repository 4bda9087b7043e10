// Unusual calls that a profile must survive and count: ranks of intercommunicators that give no type, types of more
// than 2 GiB, and more communicators than there is room for. Prints the bytes that MPI_Alltoall had on this rank.
#include <mpi.h>
#include <stdio.h>

enum { communicators = 1200 };

int main(int n, char** words) {
  int rank, size, buffer[64] = {0}, all[64] = {0};
  long bytes = 0;
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  MPI_Comm half, both;  // rank 0 and its group on one side
  const int side = rank < (size + 1) / 2 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? (size + 1) / 2 : 0, 7, &both);
  const int root = side == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  if (root == MPI_PROC_NULL) {
    MPI_Gather(NULL, 0, MPI_DATATYPE_NULL, NULL, 0, MPI_DATATYPE_NULL, root, both);
    MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, NULL, 0, MPI_DATATYPE_NULL, root, both);
    MPI_Bcast(buffer, 3, MPI_INT, root, both);
  } else if (root == MPI_ROOT) {
    MPI_Gather(NULL, 0, MPI_DATATYPE_NULL, all, 2, MPI_INT, root, both);
    MPI_Scatter(buffer, 2, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, both);
    MPI_Bcast(buffer, 3, MPI_INT, root, both);
  } else {
    MPI_Gather(buffer, 2, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, both);
    MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, buffer, 2, MPI_INT, root, both);
    MPI_Bcast(buffer, 3, MPI_INT, root, both);
  }

  MPI_Datatype gibibyte, three;
  MPI_Type_contiguous(1 << 30, MPI_CHAR, &gibibyte);
  MPI_Type_contiguous(3, gibibyte, &three);
  MPI_Type_commit(&three);
  MPI_Bcast(buffer, 1, three, 0, MPI_COMM_SELF);  // with one rank nothing moves

  for (int k = 0; k < communicators; ++k) {
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Alltoall(buffer, 1, MPI_INT, all, 1, MPI_INT, copy);
    bytes += 4L * size;
    MPI_Comm_free(&copy);
  }
  printf("alltoall %ld\n", bytes);
  MPI_Finalize();
  return 0;
}
