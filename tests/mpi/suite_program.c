// Times a broadcast, and takes and prints what the OSU Micro-Benchmarks do: -i, -x, -m LOW:HIGH and -f. With
// -DREDUCE, -DALLREDUCE or -DREDUCE_SCATTER, it times that instead: of floats, and the size is that of the whole
// vector. With SUITE_FAILS in the environment, it ends with an error.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(REDUCE)
#define TITLE "Reduce"
#elif defined(ALLREDUCE)
#define TITLE "Allreduce"
#elif defined(REDUCE_SCATTER)
#define TITLE "Reduce_scatter"
#else
#define TITLE "Broadcast"
#endif

static void call(char* data, char* result, int* counts, long size) {
#if defined(REDUCE)
  MPI_Reduce(data, result, (int)(size / 4), MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
#elif defined(ALLREDUCE)
  MPI_Allreduce(data, result, (int)(size / 4), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
#elif defined(REDUCE_SCATTER)
  MPI_Reduce_scatter(data, result, counts, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
#else
  MPI_Bcast(data, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
#endif
}

static long first_size(long low) {
#if defined(REDUCE) || defined(ALLREDUCE) || defined(REDUCE_SCATTER)
  return low < 4 ? 4 : low / 4 * 4;
#else
  return low;
#endif
}

int main(int n, char** words) {
  int rank, ranks, calls = 1000, warm_up = 10, low = 1, high = 1 << 20, full = 0;
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int option; (option = getopt(n, words, "i:x:m:f")) != -1;) {
    if (option == 'i') calls = atoi(optarg);
    if (option == 'x') warm_up = atoi(optarg);
    if (option == 'm') sscanf(optarg, "%d:%d", &low, &high);
    if (option == 'f') full = 1;
    if (option == '?') MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (low < 1) MPI_Abort(MPI_COMM_WORLD, 2);
  if (getenv("SUITE_FAILS") != NULL) {
    if (rank == 0) fprintf(stderr, "the fabric is down\n");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  char *const data = calloc(1, (size_t)high), *const result = calloc(1, (size_t)high);
  int* const counts = calloc((size_t)ranks, sizeof(int));
  if (rank == 0) printf("# OSU MPI " TITLE " Latency Test v7.4\n# Size       Avg Latency(us)\n");
  for (long size = first_size(low); size <= high; size *= 2) {
    for (int k = 0; k < ranks; ++k) counts[k] = (int)(size / 4 / ranks + (k < size / 4 % ranks));
    double spent = 0;
    for (int k = -warm_up; k < calls; ++k) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      call(data, result, counts, size);
      if (k >= 0) spent += MPI_Wtime() - begin;
    }
    double mean = 1e6 * spent / calls, least, most, sum;
    MPI_Allreduce(&mean, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mean, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&mean, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank != 0) continue;
    printf("%-10ld%18.3f", size, sum / ranks);
    if (full) printf("%18.3f%18.3f%12d", least, most, calls);
    printf("\n");
  }
  MPI_Finalize();
  return 0;
}
