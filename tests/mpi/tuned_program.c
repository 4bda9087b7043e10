// Calls every collective in many ways and compares the results: tuned_program [ROUNDS]. Prints "N wrong" at rank 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known_values.h"

enum { most = 3000, most_ranks = 16 };
static int root;
static MPI_Comm comm;
static int mine[most * most_ranks], all[most * most_ranks];

static void fill(int count) {
  for (int k = 0; k < count; ++k) mine[k] = value(rank, k);
  memset(all, -1, sizeof all);
}

static void rooted(int count) {
  fill(count);
  if (rank != root) memset(mine, 0, sizeof(int) * (size_t)count);
  MPI_Bcast(mine, count, MPI_INT, root, comm);
  int right = 1;
  for (int k = 0; k < count; ++k) right &= mine[k] == value(root, k);
  expect(right, "MPI_Bcast", count);

  fill(count);
  MPI_Reduce(mine, all, count, MPI_INT, MPI_SUM, root, comm);
  right = 1;
  for (int k = 0; k < count && rank == root; ++k) right &= all[k] == sum_of(size, k);
  expect(right, "MPI_Reduce", count);
  const int is_small = count * (int)sizeof(int) <= 2048;  // above, MPICH 4.0.2 itself crashes with 3 ranks
  const int in_place = ((size & (size - 1)) == 0 || is_small) && size > 1;
  if (in_place) MPI_Reduce(rank == root ? MPI_IN_PLACE : mine, mine, count, MPI_INT, MPI_SUM, root, comm);
  for (int k = 0; k < count && rank == root && in_place; ++k) right &= mine[k] == sum_of(size, k);
  expect(right, "MPI_Reduce in place", count);

  fill(count);
  MPI_Gather(mine, count, MPI_INT, all, count, MPI_INT, root, comm);
  right = 1;
  for (int k = 0; k < count * size && rank == root; ++k) right &= all[k] == value(k / count, k % count);
  expect(right, "MPI_Gather", count);

  fill(count);
  for (int k = 0; k < count * size && rank == root; ++k) all[k] = value(k / count, k % count) + 7;
  memset(mine, 0, sizeof mine);
  MPI_Scatter(all, count, MPI_INT, mine, count, MPI_INT, root, comm);
  right = 1;
  for (int k = 0; k < count; ++k) right &= mine[k] == value(rank, k) + 7;
  expect(right, "MPI_Scatter", count);
}

static void varying(int count) {
  int counts[most_ranks], places[most_ranks], total = 0, right = 1;
  for (int r = 0; r < size; ++r) counts[r] = (count + r) % (count + 1), places[r] = total, total += counts[r];
  fill(count);
  MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, comm);
  for (int r = 0; r < size && rank == root; ++r)
    for (int k = 0; k < counts[r]; ++k) right &= all[places[r] + k] == value(r, k);
  expect(right, "MPI_Gatherv", count);
  fill(count);
  MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < counts[r]; ++k) right &= all[places[r] + k] == value(r, k);
  expect(right, "MPI_Allgatherv", count);
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < counts[r]; ++k) all[places[r] + k] = value(r, k) + 5;
  MPI_Scatterv(all, counts, places, MPI_INT, mine, counts[rank], MPI_INT, root, comm);
  for (int k = 0; k < counts[rank]; ++k) right &= mine[k] == value(rank, k) + 5;
  expect(right, "MPI_Scatterv", count);
  int sent[most_ranks], from[most_ranks], came[most_ranks], to[most_ranks], out = 0, in = 0;
  for (int r = 0; r < size; ++r) {
    sent[r] = (rank + r) % 3 * count / 3, came[r] = sent[r], from[r] = out, to[r] = in;
    for (int k = 0; k < sent[r]; ++k) mine[out + k] = value(rank, k) + r;
    out += sent[r], in += came[r];
  }
  MPI_Alltoallv(mine, sent, from, MPI_INT, all, came, to, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < came[r]; ++k) right &= all[to[r] + k] == value(r, k) + rank;
  expect(right, "MPI_Alltoallv", count);
}

static void of_all(int count) {
  int right = 1, counts[most_ranks];
  fill(count);
  MPI_Allreduce(mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(size, k);
  MPI_Allreduce(MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= mine[k] == sum_of(size, k);
  expect(right, "MPI_Allreduce", count);
  fill(count);
  MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, comm);
  for (int k = 0; k < count * size; ++k) right &= all[k] == value(k / count, k % count);
  memset(all, 0, sizeof all);
  memcpy(all + rank * count, mine, sizeof(int) * (size_t)count);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, comm);
  for (int k = 0; k < count * size; ++k) right &= all[k] == value(k / count, k % count);
  expect(right, "MPI_Allgather", count);
  for (int k = 0; k < count * size; ++k) mine[k] = value(rank, k);
  MPI_Alltoall(mine, count, MPI_INT, all, count, MPI_INT, comm);
  for (int k = 0; k < count * size; ++k) right &= all[k] == value(k / count, rank * count + k % count);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, mine, count, MPI_INT, comm);
  for (int k = 0; k < count * size; ++k) right &= mine[k] == value(k / count, rank * count + k % count);
  expect(right, "MPI_Alltoall", count);
  for (int k = 0; k < count * size; ++k) mine[k] = value(rank, k);
  MPI_Reduce_scatter_block(mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(size, rank * count + k);
  for (int r = 0; r < size; ++r) counts[r] = count;
  memset(all, 0, sizeof all);
  MPI_Reduce_scatter(mine, all, counts, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(size, rank * count + k);
  expect(right, "MPI_Reduce_scatter", count);
  fill(count);
  MPI_Scan(mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(rank + 1, k);
  MPI_Exscan(mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count && rank > 0; ++k) right &= all[k] == sum_of(rank, k);
  expect(right, "MPI_Scan", count);
  MPI_Barrier(comm);
}

/// Products of 2 x 2 matrices, which do not commute.
static void product(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  unsigned *a = in, *b = inout;
  for (int k = 0; k < *count; ++k, a += 4, b += 4) {
    const unsigned c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                           a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
  }
}

static void by_own_operator(int count) {
  static MPI_Op op = MPI_OP_NULL;
  static MPI_Datatype matrix;
  if (op == MPI_OP_NULL) {
    MPI_Op_create(product, 0, &op);
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
    MPI_Type_commit(&matrix);
  }
  unsigned in[4 * 16], out[4 * 16], wanted[4];
  const int matrices = count < 16 ? count : 16;
  for (int k = 0; k < 4 * matrices; ++k) in[k] = (unsigned)(rank + 2) * 3 + (unsigned)k % 4;
  MPI_Allreduce(in, out, matrices, matrix, op, comm);
  for (unsigned j = 0; j < 4; ++j) wanted[j] = (unsigned)(size + 1) * 3 + j;
  for (int r = size - 2; r >= 0; --r) {
    unsigned left[4];
    int one = 1;
    for (unsigned j = 0; j < 4; ++j) left[j] = (unsigned)(r + 2) * 3 + j;
    product(left, wanted, &one, &matrix);
  }
  int right = 1;
  for (int k = 0; k < 4 * matrices; ++k) right &= out[k] == wanted[k % 4];
  expect(right, "MPI_Allreduce of an own operator", matrices);
}

/// Every second number; the receiver has another type of the same signature.
static void by_own_type(int count) {
  MPI_Datatype gaps;
  MPI_Type_vector(count, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  fill(2 * count);
  if (rank == root) MPI_Bcast(mine, 1, gaps, root, comm);
  else MPI_Bcast(all, count, MPI_INT, root, comm);
  int right = 1;
  for (int k = 0; k < count && rank != root; ++k) right &= all[k] == value(root, 2 * k);
  expect(right, "MPI_Bcast of an own type", count);
  MPI_Type_free(&gaps);
}

static void once(MPI_Comm in) {
  static const int counts[] = {1, 2, 100, 1500};
  comm = in;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size > most_ranks) MPI_Abort(comm, 1);
  for (unsigned k = 0; k < sizeof counts / sizeof *counts; ++k) {
    root = (root + 1) % size;
    rooted(counts[k]), varying(counts[k]), of_all(counts[k]), by_own_operator(counts[k]), by_own_type(counts[k]);
  }
  MPI_Bcast(NULL, 0, MPI_INT, 0, comm);
  MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm);
}

/// Ranks of different parities are in different communicators, and call the same functions at different times.
static void parts(MPI_Comm half, int parity) {
  for (int k = 0; k <= parity; ++k) once(half);
}

static void between(MPI_Comm half, int parity, int ranks) {
  if (ranks < 2) return;
  MPI_Comm inter;
  int number = 0, half_rank = 0, got = -1;
  MPI_Comm_rank(half, &half_rank);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - parity, 3, &inter);
  number = 40 + parity;
  MPI_Bcast(parity == 0 ? &number : &got, 1, MPI_INT,
            parity == 1      ? 0
            : half_rank == 0 ? MPI_ROOT
                             : MPI_PROC_NULL,
            inter);
  expect(parity == 0 || got == 40, "MPI_Bcast between groups", 1);
  MPI_Comm_free(&inter);
}

/// Errors come back once the program wants them to, whatever algorithm runs.
static void mistakes(MPI_Comm copy) {
  int number = 0, size_of_copy = 0;
  MPI_Comm_size(copy, &size_of_copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  for (int k = 0; k < 60; ++k)
    expect(MPI_Bcast(&number, 1, MPI_INT, size_of_copy, copy) != MPI_SUCCESS, "MPI_Bcast from no rank", k);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  int world_rank, world_size, total = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm half, copy;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int k = 0; k < rounds; ++k) {
    root = 0;
    once(MPI_COMM_WORLD);
    root = 0;
    if (k % 4 == 0) parts(half, world_rank % 2);
    root = 0;
    if (k % 4 == 1) once(copy);
    if (k % 8 == 2) {
      MPI_Comm short_lived;
      MPI_Comm_dup(half, &short_lived);
      root = 0;
      once(short_lived);
      MPI_Comm_free(&short_lived);
    }
  }
  between(half, world_rank % 2, world_size);
  mistakes(copy);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (world_rank == 0) printf("%d wrong\n", total);
  MPI_Finalize();
  return 0;
}
