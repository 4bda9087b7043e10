// drifting_program bcast|allreduce|ibcast CALLS: as many calls. With ibcast, there is a barrier after each of them.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { count = 16 };

int main(int n, char** words) {
  MPI_Init(&n, &words);
  if (n != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  static float in[count], out[count];
  for (int k = atoi(words[2]); k > 0; --k) {
    if (strcmp(words[1], "allreduce") == 0) MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    else if (strcmp(words[1], "bcast") == 0) MPI_Bcast(in, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    else {
      MPI_Request request;
      MPI_Ibcast(in, count, MPI_FLOAT, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
