// Times a broadcast, and takes and prints what the OSU Micro-Benchmarks do: -i, -x, -m LOW:HIGH and -f. With
// SUITE_FAILS in the environment, it ends with an error.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int n, char** words) {
  int rank, calls = 1000, warm_up = 10, low = 1, high = 1 << 20, full = 0;
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int option; (option = getopt(n, words, "i:x:m:f")) != -1;) {
    if (option == 'i') calls = atoi(optarg);
    if (option == 'x') warm_up = atoi(optarg);
    if (option == 'm') sscanf(optarg, "%d:%d", &low, &high);
    if (option == 'f') full = 1;
    if (option == '?') MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (getenv("SUITE_FAILS") != NULL) {
    if (rank == 0) fprintf(stderr, "the fabric is down\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  char* const data = calloc(1, (size_t)high);
  if (rank == 0) printf("# OSU MPI Broadcast Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n");
  for (long size = low; size <= high; size *= 2) {
    double spent = 0;
    for (int k = -warm_up; k < calls; ++k) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      MPI_Bcast(data, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
      if (k >= 0) spent += MPI_Wtime() - begin;
    }
    double mean = 1e6 * spent / calls, least, most, sum;
    MPI_Allreduce(&mean, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mean, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mean, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int size_of_world;
    MPI_Comm_size(MPI_COMM_WORLD, &size_of_world);
    if (rank != 0) continue;
    printf("%-10ld%18.3f", size, sum / size_of_world);
    if (full) printf("%18.3f%18.3f%12d", least, most, calls);
    printf("\n");
  }
  MPI_Finalize();
  return 0;
}
