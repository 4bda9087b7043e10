// Collectives with many types, operators, roots, in place, and with other counts for each rank:
// conformance_program ROUNDS blocking|nonblocking. Prints "N wrong" at rank 0.
#include <complex.h>
#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "known_values.h"

enum { most = 1000, most_ranks = 8 };
#define COMM MPI_COMM_WORLD
#define RUN(blocking, nonblocking, ...)         \
  do {                                          \
    if (with_requests) {                        \
      MPI_Request request;                      \
      nonblocking(__VA_ARGS__, COMM, &request); \
      MPI_Wait(&request, MPI_STATUS_IGNORE);    \
    } else {                                    \
      blocking(__VA_ARGS__, COMM);              \
    }                                           \
  } while (0)

static int with_requests, root;
static int mine[(most + most_ranks) * most_ranks], all[(most + most_ranks) * most_ranks];
static int counts[most_ranks], places[most_ranks], total;

/// The values of this rank, for all blocks.
static void fill(void) {
  for (int k = 0; k < total; ++k) mine[k] = value(rank, k);
  memset(all, -1, sizeof all);
}

/// Only the block of this rank.
static void fill_own(int* data) {
  memset(data, -1, sizeof mine);
  for (int k = 0; k < counts[rank]; ++k) data[places[rank] + k] = value(rank, k);
}

static int has_own_block(const int* data, int of) {
  int right = 1;
  for (int k = 0; k < counts[of]; ++k) right &= data[places[of] + k] == value(of, k);
  return right;
}

static int has_all_blocks(const int* data) {
  int right = 1;
  for (int of = 0; of < size; ++of) right &= has_own_block(data, of);
  return right;
}

static int has_sums(const int* data) {
  int right = 1;
  for (int k = 0; k < counts[rank]; ++k) right &= data[k] == sum_of(size, places[rank] + k);
  return right;
}

static void scattered_sums(int are_equal, int count) {
  fill();
  RUN(MPI_Reduce_scatter, MPI_Ireduce_scatter, mine, all, counts, MPI_INT, MPI_SUM);
  expect(has_sums(all), "MPI_Reduce_scatter", count);
  RUN(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_IN_PLACE, mine, counts, MPI_INT, MPI_SUM);
  expect(has_sums(mine), "MPI_Reduce_scatter in place", count);
  if (!are_equal) return;
  fill();
  RUN(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM);
  expect(has_sums(mine), "MPI_Reduce_scatter_block in place", count);
}

static void blocks_in_place(int count) {
  fill_own(all);
  if (rank == root) RUN(MPI_Gatherv, MPI_Igatherv, MPI_IN_PLACE, 0, MPI_INT, all, counts, places, MPI_INT, root);
  else RUN(MPI_Gatherv, MPI_Igatherv, all + places[rank], counts[rank], MPI_INT, NULL, NULL, NULL, MPI_INT, root);
  expect(rank != root || has_all_blocks(all), "MPI_Gatherv in place", count);
  if (rank == root) RUN(MPI_Scatterv, MPI_Iscatterv, all, counts, places, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, root);
  else RUN(MPI_Scatterv, MPI_Iscatterv, NULL, NULL, NULL, MPI_INT, all + places[rank], counts[rank], MPI_INT, root);
  expect(has_own_block(all, rank), "MPI_Scatterv in place", count);
  fill_own(all);
  RUN(MPI_Allgatherv, MPI_Iallgatherv, MPI_IN_PLACE, 0, MPI_INT, all, counts, places, MPI_INT);
  expect(has_all_blocks(all), "MPI_Allgatherv in place", count);
}

static void exchange_in_place(int count) {
  int same[most_ranks], from[most_ranks], right = 1;
  for (int r = 0; r < size; ++r) same[r] = count, from[r] = r * count;
  for (int k = 0; k < size * count; ++k) mine[k] = value(rank, k);
  RUN(MPI_Alltoallv, MPI_Ialltoallv, MPI_IN_PLACE, NULL, NULL, MPI_INT, mine, same, from, MPI_INT);
  for (int k = 0; k < size * count; ++k) right &= mine[k] == value(k / count, rank * count + k % count);
  expect(right, "MPI_Alltoallv in place", count);
}

static void prefixes_in_place(int count) {
  int right = 1;
  for (int k = 0; k < count; ++k) mine[k] = all[k] = value(rank, k);
  RUN(MPI_Scan, MPI_Iscan, MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM);
  RUN(MPI_Exscan, MPI_Iexscan, MPI_IN_PLACE, all, count, MPI_INT, MPI_SUM);
  for (int k = 0; k < count; ++k) right &= mine[k] == sum_of(rank + 1, k);
  for (int k = 0; k < count && rank > 0; ++k) right &= all[k] == sum_of(rank, k);
  expect(right, "MPI_Scan and MPI_Exscan in place", count);
}

/// At all ranks, and at the root.
#define REDUCE(type, mpi_type, op, of_rank, wanted)                                        \
  do {                                                                                     \
    static type in[most], out[most], at_root[most];                                        \
    int right = 1;                                                                         \
    for (int k = 0; k < count; ++k) in[k] = (type)(of_rank);                               \
    RUN(MPI_Allreduce, MPI_Iallreduce, in, out, count, mpi_type, op);                      \
    RUN(MPI_Reduce, MPI_Ireduce, in, at_root, count, mpi_type, op, root);                  \
    for (int k = 0; k < count; ++k) {                                                      \
      right &= out[k] == (type)(wanted) && (rank != root || at_root[k] == (type)(wanted)); \
    }                                                                                      \
    expect(right, #op " of " #mpi_type, count);                                            \
  } while (0)

static void operators(int count) {
  const int ranks = size, powers = 1 << size;
  REDUCE(double, MPI_DOUBLE, MPI_PROD, 2, powers);
  REDUCE(short, MPI_SHORT, MPI_MAX, (rank + k) % ranks, ranks - 1);
  REDUCE(long long, MPI_LONG_LONG, MPI_MIN, (rank + k) % ranks - 5, -5);
  REDUCE(unsigned char, MPI_UNSIGNED_CHAR, MPI_BOR, 1 << rank, powers - 1);
  REDUCE(unsigned, MPI_UNSIGNED, MPI_BXOR, 3u << rank, (unsigned)powers ^ 1u);
  REDUCE(int, MPI_INT, MPI_LAND, k % 2 || rank != 0, k % 2);
  REDUCE(float, MPI_FLOAT, MPI_SUM, rank + k % 7, ranks * (ranks - 1) / 2 + ranks * (k % 7));
  REDUCE(double complex, MPI_C_DOUBLE_COMPLEX, MPI_SUM, rank + k * I, ranks * (ranks - 1) / 2 + ranks * (k * I));
}

struct located {
  double value;
  int at;
};

static void locations(int count) {
  static struct located in[most], out[most];
  int right = 1;
  for (int k = 0; k < count; ++k) in[k] = (struct located){(rank + k) % size, rank};
  RUN(MPI_Allreduce, MPI_Iallreduce, in, out, count, MPI_DOUBLE_INT, MPI_MAXLOC);
  for (int k = 0; k < count; ++k) right &= out[k].value == size - 1 && (out[k].at + k) % size == size - 1;
  RUN(MPI_Reduce, MPI_Ireduce, in, out, count, MPI_DOUBLE_INT, MPI_MINLOC, root);
  for (int k = 0; k < count && rank == root; ++k) right &= out[k].value == 0 && (out[k].at + k) % size == 0;
  expect(right, "MPI_MAXLOC and MPI_MINLOC", count);
}

struct sample {
  double largest;
  int by;
  char name[4];
};

/// Commutes.
static void larger(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  struct sample *a = in, *b = inout;
  for (int k = 0; k < *count; ++k)
    if (a[k].largest > b[k].largest) b[k] = a[k];
}

static MPI_Datatype sample_type, shifted;
static MPI_Op own;

static void own_struct(int count) {
  static struct sample in[most], out[most];
  int right = 1;
  for (int k = 0; k < count; ++k) in[k] = (struct sample){(rank + k) % size, rank, {(char)('a' + rank)}};
  RUN(MPI_Allreduce, MPI_Iallreduce, in, out, count, sample_type, own);
  for (int k = 0; k < count; ++k)
    right &= out[k].largest == size - 1 && (out[k].by + k) % size == size - 1 && out[k].name[0] == 'a' + out[k].by;
  RUN(MPI_Bcast, MPI_Ibcast, in, count, sample_type, root);
  for (int k = 0; k < count; ++k) right &= in[k].by == root && in[k].name[0] == 'a' + root;
  expect(right, "an own type and operator", count);
}

/// Elements that begin before their address.
static void lower_bounds(int count) {
  static int data[2 * most + 2];
  int right = 1;
  for (int k = 0; k < 2 * count + 2; ++k) data[k] = rank == root ? value(root, k) : -1;
  RUN(MPI_Bcast, MPI_Ibcast, data + 1, count, shifted, root);
  for (int k = 0; k < 2 * count; ++k) right &= data[k + 1] == (k % 2 == 0 || rank == root ? value(root, k + 1) : -1);
  expect(right, "a negative lower bound", count);
}

static void once(int count, int more) {
  total = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = more < 0 ? (r % 2 ? 0 : count) : count + more * r;
    places[r] = total, total += counts[r];
  }
  scattered_sums(more == 0, count);
  blocks_in_place(count);
  if (more != 0) return;
  exchange_in_place(count), prefixes_in_place(count), operators(count), locations(count), own_struct(count);
  lower_bounds(count);
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  MPI_Comm_rank(COMM, &rank);
  MPI_Comm_size(COMM, &size);
  with_requests = strcmp(words[2], "nonblocking") == 0;
  const int lengths[] = {1, 1, 4};
  const MPI_Aint offsets[] = {offsetof(struct sample, largest), offsetof(struct sample, by),
                              offsetof(struct sample, name)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
  MPI_Type_create_struct(3, lengths, offsets, types, &sample_type);
  MPI_Type_create_resized(MPI_INT, -(MPI_Aint)sizeof(int), 2 * sizeof(int), &shifted);
  MPI_Type_commit(&sample_type), MPI_Type_commit(&shifted);
  MPI_Op_create(larger, 1, &own);
  static const int all_counts[] = {1, 3, 64, most};
  for (int round = 0; round < atoi(words[1]); ++round) {
    for (int k = 0; k < 4; ++k) {
      root = (round + k) % size;
      once(all_counts[k], 0), once(all_counts[k], 1), once(all_counts[k], -1);
    }
    MPI_Barrier(COMM);
  }
  int sum = 0;
  MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, COMM);
  if (rank == 0) printf("%d wrong\n", sum);
  MPI_Op_free(&own), MPI_Type_free(&shifted), MPI_Type_free(&sample_type);
  MPI_Finalize();
  return 0;
}
