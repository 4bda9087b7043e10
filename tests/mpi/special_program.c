// Collectives in less usual ways: special_program ROUNDS. Zero counts, MPI_IN_PLACE, types with gaps and other extents,
// and the functions with large counts if the MPI has them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { most_ranks = 8, most = 600 };
static int rank, size, wrong;
static MPI_Datatype spread;  // two integers in the room of three

static void expect(int is_right, const char* what) {
  if (!is_right) printf("rank %d: %s\n", rank, what), ++wrong;
}

static void nothing(void) {
  int one = rank, other = -1;
  MPI_Bcast(&one, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&one, &other, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(&one, &other, 0, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
  MPI_Allgather(&one, 0, MPI_INT, &other, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(&one, 0, MPI_INT, &other, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Gather(&one, 0, MPI_INT, &other, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter(&one, 0, MPI_INT, &other, 0, MPI_INT, 0, MPI_COMM_WORLD);
  expect(one == rank && other == -1, "calls without data");
}

static void in_place(int count) {
  static int all[most_ranks * most];
  int right = 1;
  for (int k = 0; k < count; ++k) all[rank * count + k] = 100 * rank + k;
  if (rank == 0) MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD);
  else MPI_Gather(all + rank * count, count, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  for (int k = 0; k < size * count && rank == 0; ++k) right &= all[k] == 100 * (k / count) + k % count;
  if (rank == 0) MPI_Scatter(all, count, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, MPI_COMM_WORLD);
  else MPI_Scatter(NULL, 0, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD);
  for (int k = 0; k < count; ++k) right &= all[k] == 100 * rank + k;
  expect(right, "gather and scatter in place");
}

static void with_gaps(int count) {
  static int mine[3 * most_ranks * most], all[3 * most_ranks * most];
  int right = 1;
  for (int k = 0; k < 3 * size * count; ++k) mine[k] = 1000 * rank + k, all[k] = -1;
  MPI_Alltoall(mine, count, spread, all, count, spread, MPI_COMM_WORLD);
  for (int from = 0; from < size; ++from) {
    for (int k = 0; k < 3 * count; ++k)
      right &= all[3 * from * count + k] == (k % 3 == 2 ? -1 : 1000 * from + 3 * rank * count + k);
  }
  for (int k = 0; k < 3 * count; ++k) all[k] = rank == 0 ? k : -1;
  MPI_Bcast(all, count, spread, 0, MPI_COMM_WORLD);
  for (int k = 0; k < 3 * count; ++k) right &= all[k] == (k % 3 == 2 && rank > 0 ? -1 : k);
  expect(right, "types with gaps");
}

static void with_large_counts(int count) {
#if MPI_VERSION >= 4
  static int data[most], sums[most];
  int right = 1;
  for (int k = 0; k < count; ++k) data[k] = rank == 0 ? k : -1;
  MPI_Bcast_c(data, (MPI_Count)count, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allreduce_c(data, sums, (MPI_Count)count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < count; ++k) right &= data[k] == k && sums[k] == size * k;
  expect(right, "large counts");
#else
  (void)count;
#endif
}

int main(int n, char** words) {
  MPI_Datatype pair;
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &spread);
  MPI_Type_commit(&spread);
  for (int round = 0; round < atoi(words[1]); ++round) {
    nothing();
    in_place(round % 2 ? 5 : most);
    with_gaps(round % 2 ? 7 : most / 3);
    with_large_counts(round % 2 ? 3 : most);
  }
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Type_free(&spread);
  MPI_Type_free(&pair);
  MPI_Finalize();
  return 0;
}
