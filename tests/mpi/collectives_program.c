// Every collective function: blocking, nonblocking and, if the MPI has them, persistent. It knows its own traffic.
#include "known_traffic.h"

enum { each = 2, most_ranks = 8, room = 4 * each * most_ranks };
static double there[room], back[room];
static int counts[most_ranks], places[most_ranks], bytes_at[most_ranks];
static MPI_Aint far_at[most_ranks];
static MPI_Datatype triple, types[most_ranks];
static MPI_Request request;

#if HAS_MPI_4
#define START(function, group, bytes, ...)                                 \
  do {                                                                     \
    CALL(function##_init, group, 0, __VA_ARGS__, MPI_INFO_NULL, &request); \
    RUN(function##_init, group, bytes, &request);                          \
  } while (0)
#else
#define START(function, group, bytes, ...)
#endif
#define EVERY(function, nonblocking, group, bytes, ...)     \
  do {                                                      \
    CALL(function, group, bytes, __VA_ARGS__);              \
    CALL(nonblocking, group, bytes, __VA_ARGS__, &request); \
    CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE);     \
    START(function, group, bytes, __VA_ARGS__);             \
  } while (0)

/// counts[k] is k + 1.
static int sum_of(int n) { return n * (n + 1) / 2; }

static void collect(MPI_Comm comm, const char* name) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  const int b = each * (int)sizeof(double), one = (int)sizeof(double);
  const MPI_Datatype d = MPI_DOUBLE;
  const MPI_Op op = MPI_SUM;
  void* const in_place = MPI_IN_PLACE;
  EVERY(MPI_Barrier, MPI_Ibarrier, name, 0, comm);
  EVERY(MPI_Bcast, MPI_Ibcast, name, 3 * one, there, 1, triple, n - 1, comm);
  EVERY(MPI_Reduce, MPI_Ireduce, name, b, there, back, each, d, op, 0, comm);
  EVERY(MPI_Allreduce, MPI_Iallreduce, name, b, in_place, back, each, d, op, comm);
  EVERY(MPI_Scan, MPI_Iscan, name, b, there, back, each, d, op, comm);
  EVERY(MPI_Exscan, MPI_Iexscan, name, b, there, back, each, d, op, comm);
  EVERY(MPI_Gather, MPI_Igather, name, b, there, each, d, back, each, d, 0, comm);
  EVERY(MPI_Gather, MPI_Igather, name, b, me == 0 ? in_place : there, each, d, back, each, d, 0, comm);
  EVERY(MPI_Gatherv, MPI_Igatherv, name, counts[me] * one, me == 0 ? in_place : there, counts[me], d, back, counts,
        places, d, 0, comm);
  EVERY(MPI_Scatter, MPI_Iscatter, name, b, there, each, d, back, each, d, 0, comm);
  EVERY(MPI_Scatterv, MPI_Iscatterv, name, counts[me] * one, there, counts, places, d, me == 0 ? in_place : back,
        counts[me], d, 0, comm);
  EVERY(MPI_Allgather, MPI_Iallgather, name, b, there, each, d, back, each, d, comm);
  EVERY(MPI_Allgatherv, MPI_Iallgatherv, name, counts[me] * one, in_place, 0, d, back, counts, places, d, comm);
  EVERY(MPI_Alltoall, MPI_Ialltoall, name, n * b, there, each, d, back, each, d, comm);
  EVERY(MPI_Alltoall, MPI_Ialltoall, name, n * b, in_place, 0, d, back, each, d, comm);
  // Each sends its number + 1 to every rank, and gets from each what that one sends.
  int equal[most_ranks];
  for (int k = 0; k < n; ++k) equal[k] = me + 1;
  EVERY(MPI_Alltoallv, MPI_Ialltoallv, name, n * (me + 1) * one, there, equal, places, d, back, counts, places, d,
        comm);
  EVERY(MPI_Alltoallw, MPI_Ialltoallw, name, n * (me + 1) * one, there, equal, bytes_at, types, back, counts, bytes_at,
        types, comm);
  EVERY(MPI_Reduce_scatter, MPI_Ireduce_scatter, name, sum_of(n) * one, there, back, counts, d, op, comm);
  EVERY(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, name, n * b, there, back, each, d, op, comm);
}

/// exist: of the sides, in this order, those with a neighbour.
static void ask_neighbours(MPI_Comm comm, const char* name, int sides, const int* exist) {
  const int b = each * (int)sizeof(double), one = (int)sizeof(double);
  const MPI_Datatype d = MPI_DOUBLE;
  int real = 0, varied = 0, ones[most_ranks];
  for (int k = 0; k < sides; ++k) real += exist[k], varied += exist[k] ? 1 : 0, ones[k] = 1;
  EVERY(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, name, b, there, each, d, back, each, d, comm);
  EVERY(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, name, one, there, 1, d, back, ones, places, d, comm);
  EVERY(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, name, real * b, there, each, d, back, each, d, comm);
  EVERY(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, name, varied * one, there, ones, places, d, back, ones, places,
        d, comm);
  EVERY(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, name, varied * one, there, ones, far_at, types, back, ones,
        far_at, types, comm);
}

static void with_neighbours(void) {
  MPI_Comm line, ring;
  const int dims[1] = {size}, open[1] = {0}, next = (rank + 1) % size, last = (rank + size - 1) % size;
  const int ends[2] = {rank > 0, rank < size - 1}, both[1] = {1};
  CALL(MPI_Cart_create, "world", 0, MPI_COMM_WORLD, 1, dims, open, 0, &line);
  ask_neighbours(line, "world/cart 1", 2, ends);
  CALL(MPI_Dist_graph_create_adjacent, "world", 0, MPI_COMM_WORLD, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
       MPI_INFO_NULL, 0, &ring);
  ask_neighbours(ring, "world/dist_graph 1", 1, both);
  CALL(MPI_Comm_free, "world/cart 1", 0, &line);
  CALL(MPI_Comm_free, "world/dist_graph 1", 0, &ring);
}

int main(int count, char** words) {
  begin(&count, &words);
  runs = size == 3 ? 1 : 2;  // three ranks of MPICH 4.0 fail when they start persistent functions again
  MPI_Type_contiguous(3, MPI_DOUBLE, &triple);
  MPI_Type_commit(&triple);
  for (int k = 0; k < most_ranks; ++k) {
    counts[k] = k + 1;
    places[k] = k * (k + 1) / 2;
    bytes_at[k] = places[k] * (int)sizeof(double);
    far_at[k] = bytes_at[k];
    types[k] = MPI_DOUBLE;
  }
  collect(MPI_COMM_WORLD, "world");
  with_neighbours();
  MPI_Comm part;
  char name[64];
  snprintf(name, sizeof name, "world/split 1 colour %d", rank % 2);
  CALL(MPI_Comm_split, "world", 0, MPI_COMM_WORLD, rank % 2, 0, &part);
  collect(part, name);
  CALL(MPI_Comm_free, name, 0, &part);
  MPI_Type_free(&triple);
  end();
}
