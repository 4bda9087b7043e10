// Calls whose ranks give unlike arguments: another datatype and count for the same data, MPI_IN_PLACE at the root, and
// nothing where the arguments do not count. Prints "N wrong" at rank 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 6000, most_ranks = 8 };
static int rank, size, wrong;
static int mine[most * most_ranks], all[most * most_ranks];
static int counts[most_ranks], places[most_ranks];

static int value(int from, int k) { return from * 100003 + k * 7 + 1; }

static void expect(const int* data, int from, int n) {
  for (int k = 0; k < n; ++k) wrong += data[k] != value(from, k);
}

/// `n` numbers of each rank. Every second rank gives them as one element.
static void to_root_and_back(int n, int root, int in_place) {
  MPI_Datatype block;
  MPI_Type_contiguous(n, MPI_INT, &block);
  MPI_Type_commit(&block);
  const MPI_Datatype type = rank % 2 ? block : MPI_INT;
  const int count = rank % 2 ? 1 : n, is_root = rank == root, here = in_place && is_root;
  for (int i = 0; i < size; ++i) counts[i] = n, places[i] = i * n;
  for (int k = 0; k < n; ++k) mine[k] = all[rank * n + k] = value(rank, k);
  void* const own = here ? MPI_IN_PLACE : mine;
  const int own_count = here ? 0 : count;
  const MPI_Datatype own_type = here ? MPI_DATATYPE_NULL : type, root_type = is_root ? MPI_INT : MPI_DATATYPE_NULL;
  MPI_Gather(own, own_count, own_type, all, is_root ? n : 0, root_type, root, MPI_COMM_WORLD);
  for (int i = 0; is_root && i < size; ++i) expect(all + i * n, i, n);
  MPI_Gatherv(own, own_count, own_type, all, counts, places, root_type, root, MPI_COMM_WORLD);
  for (int i = 0; is_root && i < size; ++i) expect(all + i * n, i, n);
  memset(mine, 0, sizeof(int) * (size_t)n);
  MPI_Scatter(all, is_root ? n : 0, root_type, own, own_count, own_type, root, MPI_COMM_WORLD);
  if (!here) expect(mine, rank, n);
  memset(mine, 0, sizeof(int) * (size_t)n);
  MPI_Scatterv(all, counts, places, root_type, own, own_count, own_type, root, MPI_COMM_WORLD);
  if (!here) expect(mine, rank, n);
  MPI_Type_free(&block);
}

/// Ranks send unlike amounts, each only to the next rank.
static void to_the_next(int n) {
  int none[most_ranks] = {0}, sent[most_ranks] = {0}, got[most_ranks] = {0};
  const int before = (rank + size - 1) % size;
  sent[(rank + 1) % size] = n / (1 + rank);
  got[before] = n / (1 + before);
  for (int k = 0; k < n; ++k) mine[k] = value(rank, k);
  MPI_Alltoallv(mine, sent, none, MPI_INT, all, got, none, MPI_INT, MPI_COMM_WORLD);
  expect(all, before, got[before]);
}

/// Each rank gives its block to all. Ranks in place may name any type that does not count.
static void to_all(int n, int in_place) {
  for (int i = 0; i < size; ++i) counts[i] = n + i, places[i] = i * (n + size);
  for (int k = 0; k < n + rank; ++k) mine[k] = all[places[rank] + k] = value(rank, k);
  const MPI_Datatype unused = rank % 2 ? MPI_DOUBLE : MPI_DATATYPE_NULL;
  MPI_Allgatherv(in_place ? MPI_IN_PLACE : mine, in_place ? 0 : n + rank, in_place ? unused : MPI_INT, all, counts,
                 places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) expect(all + places[i], i, n + i);
}

static void up_to_this_rank(int n, int in_place) {
  for (int k = 0; k < n; ++k) mine[k] = all[k] = (rank + 1) * (k % 9 + 1);
  MPI_Scan(in_place ? MPI_IN_PLACE : mine, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; k < n; ++k) wrong += all[k] != (k % 9 + 1) * (rank + 1) * (rank + 2) / 2, all[k] = mine[k];
  MPI_Exscan(in_place ? MPI_IN_PLACE : mine, all, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int k = 0; rank > 0 && k < n; ++k) wrong += all[k] != (k % 9 + 1) * rank * (rank + 1) / 2;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int sizes[] = {1, 60, most - most_ranks};
  for (int k = 0; k < 6; ++k) {
    const int n = sizes[k / 2], in_place = k % 2;
    for (int root = 0; root < size; root += size - 1) to_root_and_back(n, root, in_place);
    to_the_next(n);
    to_all(n, in_place);
    up_to_this_rank(n, in_place);
  }
  int sum = 0;
  MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", sum);
  MPI_Finalize();
  return 0;
}
