// Calls every nonblocking collective in many ways and compares the results: nonblocking_program [ROUNDS [persistent]].
// With "persistent", it calls the persistent ones. Prints "N wrong" at rank 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "known_values.h"

enum { most = 20000, most_ranks = 8 };
static int root, persistent;
static unsigned turn;
static MPI_Comm comm;
static int mine[most * most_ranks], all[most * most_ranks];

static void fill(int count) {
  for (int k = 0; k < count; ++k) mine[k] = value(rank, k);
  memset(all, -1, sizeof(int) * (size_t)count * (size_t)size);
}

/// In all ways that MPI has. Ranks do not use the same one.
static void complete(MPI_Request* request) {
  MPI_Request two[2] = {MPI_REQUEST_NULL, *request};
  int flag = 0, index = 0, number = 0, indices[2];
  const unsigned way = (turn++ + (unsigned)rank) % 8;
  // With MPICH 4 and 5, functions for several requests fail for persistent collectives.
  switch (persistent ? 4 * (way % 2) : way) {
    case 0:
      MPI_Wait(&two[1], MPI_STATUS_IGNORE);
      break;
    case 1:
      MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
      break;
    case 2:
      MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
      break;
    case 3:
      MPI_Waitsome(2, two, &number, indices, MPI_STATUSES_IGNORE);
      break;
    case 4:
      while (!flag) MPI_Test(&two[1], &flag, MPI_STATUS_IGNORE);
      break;
    case 5:
      while (!flag) MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
      break;
    case 6:
      while (!flag) MPI_Testany(2, two, &index, &flag, MPI_STATUS_IGNORE);
      break;
    default:
      while (number == 0) MPI_Testsome(2, two, &number, indices, MPI_STATUSES_IGNORE);
  }
  *request = two[1];
}

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define PREPARED(function, ...)                                  \
  do {                                                           \
    function##_init(__VA_ARGS__, MPI_INFO_NULL, &request);       \
    MPI_Start(&request);                                         \
    complete(&request);                                          \
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request); \
  } while (0)
#else
#define PREPARED(function, ...) MPI_Abort(MPI_COMM_WORLD, 1)
#endif
#define RUN(function, nonblocking, ...)                          \
  do {                                                           \
    MPI_Request request;                                         \
    if (persistent) PREPARED(function, __VA_ARGS__);             \
    else nonblocking(__VA_ARGS__, &request), complete(&request); \
  } while (0)

static void rooted(int count) {
  fill(count);
  if (rank != root) memset(mine, 0, sizeof(int) * (size_t)count);
  RUN(MPI_Bcast, MPI_Ibcast, mine, count, MPI_INT, root, comm);
  int right = 1;
  for (int k = 0; k < count; ++k) right &= mine[k] == value(root, k);
  expect(right, "MPI_Ibcast", count);

  fill(count);
  RUN(MPI_Reduce, MPI_Ireduce, mine, all, count, MPI_INT, MPI_SUM, root, comm);
  right = 1;
  for (int k = 0; k < count && rank == root; ++k) right &= all[k] == sum_of(size, k);
  expect(right, "MPI_Ireduce", count);
  RUN(MPI_Reduce, MPI_Ireduce, rank == root ? MPI_IN_PLACE : mine, mine, count, MPI_INT, MPI_SUM, root, comm);
  for (int k = 0; k < count && rank == root; ++k) right &= mine[k] == sum_of(size, k);
  expect(right, "MPI_Ireduce in place", count);

  fill(count);
  RUN(MPI_Gather, MPI_Igather, mine, count, MPI_INT, all, count, MPI_INT, root, comm);
  right = 1;
  for (int k = 0; k < count * size && rank == root; ++k) right &= all[k] == value(k / count, k % count);
  expect(right, "MPI_Igather", count);
  if (rank == root) memset(all, 0, sizeof(int) * (size_t)(count * size));
  if (rank == root) memcpy(all + root * count, mine, sizeof(int) * (size_t)count);
  RUN(MPI_Gather, MPI_Igather, rank == root ? MPI_IN_PLACE : mine, count, MPI_INT, all, count, MPI_INT, root, comm);
  for (int k = 0; k < count * size && rank == root; ++k) right &= all[k] == value(k / count, k % count);
  expect(right, "MPI_Igather in place", count);

  fill(count);
  for (int k = 0; k < count * size && rank == root; ++k) all[k] = value(k / count, k % count) + 7;
  memset(mine, 0, sizeof(int) * (size_t)count);
  RUN(MPI_Scatter, MPI_Iscatter, all, count, MPI_INT, mine, count, MPI_INT, root, comm);
  right = 1;
  for (int k = 0; k < count; ++k) right &= mine[k] == value(rank, k) + 7;
  expect(right, "MPI_Iscatter", count);
}

static void varying(int count) {
  int counts[most_ranks], places[most_ranks], total = 0, right = 1;
  for (int r = 0; r < size; ++r) counts[r] = (count + r) % (count + 1), places[r] = total, total += counts[r];
  fill(count);
  RUN(MPI_Gatherv, MPI_Igatherv, mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, root, comm);
  for (int r = 0; r < size && rank == root; ++r)
    for (int k = 0; k < counts[r]; ++k) right &= all[places[r] + k] == value(r, k);
  expect(right, "MPI_Igatherv", count);
  fill(count);
  RUN(MPI_Allgatherv, MPI_Iallgatherv, mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < counts[r]; ++k) right &= all[places[r] + k] == value(r, k);
  expect(right, "MPI_Iallgatherv", count);
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < counts[r]; ++k) all[places[r] + k] = value(r, k) + 5;
  RUN(MPI_Scatterv, MPI_Iscatterv, all, counts, places, MPI_INT, mine, counts[rank], MPI_INT, root, comm);
  for (int k = 0; k < counts[rank]; ++k) right &= mine[k] == value(rank, k) + 5;
  expect(right, "MPI_Iscatterv", count);
  int sent[most_ranks], from[most_ranks], came[most_ranks], to[most_ranks], out = 0, in = 0;
  for (int r = 0; r < size; ++r) {
    sent[r] = (rank + r) % 3 * count / 3, came[r] = sent[r], from[r] = out, to[r] = in;
    for (int k = 0; k < sent[r]; ++k) mine[out + k] = value(rank, k) + r;
    out += sent[r], in += came[r];
  }
  RUN(MPI_Alltoallv, MPI_Ialltoallv, mine, sent, from, MPI_INT, all, came, to, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < came[r]; ++k) right &= all[to[r] + k] == value(r, k) + rank;
  expect(right, "MPI_Ialltoallv", count);
}

static void of_all(int count) {
  int right = 1, counts[most_ranks];
  fill(count);
  RUN(MPI_Allreduce, MPI_Iallreduce, mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(size, k);
  expect(right, "MPI_Iallreduce", count);
  RUN(MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= mine[k] == sum_of(size, k);
  expect(right, "MPI_Iallreduce in place", count);
  fill(count);
  RUN(MPI_Allgather, MPI_Iallgather, mine, count, MPI_INT, all, count, MPI_INT, comm);
  right = 1;
  for (int k = 0; k < count * size; ++k) right &= all[k] == value(k / count, k % count);
  memset(all, 0, sizeof(int) * (size_t)(count * size));
  memcpy(all + rank * count, mine, sizeof(int) * (size_t)count);
  RUN(MPI_Allgather, MPI_Iallgather, MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, comm);
  for (int k = 0; k < count * size; ++k) right &= all[k] == value(k / count, k % count);
  expect(right, "MPI_Iallgather", count);
  right = 1;
  for (int k = 0; k < count * size; ++k) mine[k] = value(rank, k);
  RUN(MPI_Alltoall, MPI_Ialltoall, mine, count, MPI_INT, all, count, MPI_INT, comm);
  for (int k = 0; k < count * size; ++k) right &= all[k] == value(k / count, rank * count + k % count);
  expect(right, "MPI_Ialltoall", count);
  RUN(MPI_Alltoall, MPI_Ialltoall, MPI_IN_PLACE, 0, MPI_INT, mine, count, MPI_INT, comm);
  for (int k = 0; k < count * size; ++k) right &= mine[k] == value(k / count, rank * count + k % count);
  expect(right, "MPI_Ialltoall in place", count);
  right = 1;
  for (int k = 0; k < count * size; ++k) mine[k] = value(rank, k);
  RUN(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(size, rank * count + k);
  expect(right, "MPI_Ireduce_scatter_block", count);
  for (int r = 0; r < size; ++r) counts[r] = count;
  memset(all, 0, sizeof(int) * (size_t)count);
  RUN(MPI_Reduce_scatter, MPI_Ireduce_scatter, mine, all, counts, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(size, rank * count + k);
  expect(right, "MPI_Ireduce_scatter", count);
  fill(count);
  right = 1;
  RUN(MPI_Scan, MPI_Iscan, mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(rank + 1, k);
  expect(right, "MPI_Iscan", count);
  RUN(MPI_Exscan, MPI_Iexscan, mine, all, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count && rank > 0; ++k) right &= all[k] == sum_of(rank, k);
  RUN(MPI_Scan, MPI_Iscan, MPI_IN_PLACE, mine, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= mine[k] == sum_of(rank + 1, k);
  expect(right, "MPI_Iexscan, or MPI_Iscan in place", count);
  RUN(MPI_Barrier, MPI_Ibarrier, comm);
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

static void larger(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int k = 0; k < *count; ++k)
    if (((int*)in)[k] > ((int*)inout)[k]) ((int*)inout)[k] = ((int*)in)[k];
}

static void by_own_operators(int count) {
  static MPI_Op op = MPI_OP_NULL, most_of;
  static MPI_Datatype matrix;
  if (op == MPI_OP_NULL) {
    MPI_Op_create(product, 0, &op);
    MPI_Op_create(larger, 1, &most_of);
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
    MPI_Type_commit(&matrix);
  }
  unsigned in[4 * 16], out[4 * 16], wanted[4];
  const int matrices = count < 16 ? count : 16;
  for (int k = 0; k < 4 * matrices; ++k) in[k] = (unsigned)(rank + 2) * 3 + (unsigned)k % 4;
  RUN(MPI_Allreduce, MPI_Iallreduce, in, out, matrices, matrix, op, comm);
  for (unsigned j = 0; j < 4; ++j) wanted[j] = (unsigned)(size + 1) * 3 + j;
  for (int r = size - 2; r >= 0; --r) {
    unsigned left[4];
    int one = 1;
    for (unsigned j = 0; j < 4; ++j) left[j] = (unsigned)(r + 2) * 3 + j;
    product(left, wanted, &one, &matrix);
  }
  int right = 1;
  for (int k = 0; k < 4 * matrices; ++k) right &= out[k] == wanted[k % 4];
  expect(right, "MPI_Iallreduce of an operator that does not commute", matrices);
  fill(count);
  right = 1;
  RUN(MPI_Allreduce, MPI_Iallreduce, mine, all, count, MPI_INT, most_of, comm);
  RUN(MPI_Reduce, MPI_Ireduce, mine, all, count, MPI_INT, most_of, root, comm);
  for (int k = 0; k < count; ++k) right &= all[k] == value(size - 1, k);
  expect(right, "MPI_Iallreduce of an own operator", count);
}

/// Every second number; the receiver has another type of the same signature.
static void by_own_type(int count) {
  MPI_Datatype gaps;
  MPI_Type_vector(count, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  fill(2 * count);
  if (rank == root) RUN(MPI_Bcast, MPI_Ibcast, mine, 1, gaps, root, comm);
  else RUN(MPI_Bcast, MPI_Ibcast, all, count, MPI_INT, root, comm);
  int right = 1;
  for (int k = 0; k < count && rank != root; ++k) right &= all[k] == value(root, 2 * k);
  expect(right, "MPI_Ibcast of an own type", count);
  MPI_Type_free(&gaps);
}

/// Several at a time, which end in another order.
static void together(int count) {
  enum { at_a_time = 4 };
  static int sums[at_a_time][1500];
  MPI_Request requests[at_a_time + 1];
  int right = 1, token = rank == root ? 17 : 0;
  if (persistent || count > 1500) return;
  fill(count);
  for (int k = 0; k < at_a_time; ++k)
    MPI_Iallreduce(mine, sums[k], count, MPI_INT, MPI_SUM, comm, &requests[at_a_time - 1 - k]);
  MPI_Ibcast(&token, 1, MPI_INT, root, comm, &requests[at_a_time]);
  complete(&requests[1]);
  MPI_Waitall(at_a_time + 1, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < at_a_time * count; ++k) right &= sums[k / count][k % count] == sum_of(size, k % count);
  expect(right && token == 17, "MPI_Iallreduce, several at a time", count);
}

/// A start may not wait for other ranks: the next one starts when it has a message, which comes after the start.
static void in_turns(int count) {
  MPI_Request request;
  int token = 0;
  if (persistent) return;
  fill(count);
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 5, comm, MPI_STATUS_IGNORE);
  MPI_Iallreduce(mine, all, count, MPI_INT, MPI_SUM, comm, &request);
  if (rank < size - 1) MPI_Send(&token, 1, MPI_INT, rank + 1, 5, comm);
  complete(&request);
  int right = 1;
  for (int k = 0; k < count; ++k) right &= all[k] == sum_of(size, k);
  expect(right, "MPI_Iallreduce in turns", count);
}

static void once(MPI_Comm in) {
  static const int counts[] = {1, 2, 100, 1500, most};
  comm = in;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (size > most_ranks) MPI_Abort(comm, 1);
  for (unsigned k = 0; k < sizeof counts / sizeof *counts; ++k) {
    root = (root + 1) % size;
    if (counts[k] < most || turn % 5 == 0) rooted(counts[k]), varying(counts[k]), of_all(counts[k]);
    by_own_operators(counts[k]), by_own_type(counts[k] / 2 + 1), together(counts[k]), in_turns(counts[k]);
  }
  RUN(MPI_Bcast, MPI_Ibcast, NULL, 0, MPI_INT, 0, comm);
  RUN(MPI_Allreduce, MPI_Iallreduce, NULL, NULL, 0, MPI_INT, MPI_SUM, comm);
}

static void between(MPI_Comm half, int parity, int ranks) {
  if (ranks < 2) return;
  MPI_Comm inter;
  int number = 40 + parity, half_rank = 0, got = -1;
  MPI_Comm_rank(half, &half_rank);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - parity, 3, &inter);
  RUN(MPI_Bcast, MPI_Ibcast, parity == 0 ? &number : &got, 1, MPI_INT,
      parity == 1      ? 0
      : half_rank == 0 ? MPI_ROOT
                       : MPI_PROC_NULL,
      inter);
  expect(parity == 0 || got == 40, "MPI_Ibcast between groups", 1);
  MPI_Comm_free(&inter);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 40;
  int world_rank, world_size, total = 0;
  persistent = argc > 2;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm half, copy;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  for (int k = 0; k < rounds; ++k) {
    turn = (unsigned)k, root = 0;
    once(MPI_COMM_WORLD);
    if (k % 3 != 2) MPI_Barrier(MPI_COMM_WORLD);
    root = 0;
    if (k % 4 == 0) once(half);
    if (k % 8 == 4) {
      MPI_Comm short_lived;
      MPI_Comm_dup(copy, &short_lived);
      MPI_Barrier(short_lived);
      root = 0;
      once(short_lived);
      MPI_Comm_free(&short_lived);
    }
  }
  between(half, world_rank % 2, world_size);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (world_rank == 0) printf("%d wrong\n", total);
  MPI_Finalize();
  return 0;
}
