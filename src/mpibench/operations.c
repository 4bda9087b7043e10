#include "operations.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "ranks.h"

static unsigned char *sent, *received;
static unsigned char* kept;  // the result of an earlier call
static size_t buffer_bytes;
static int *counts, *places;
static MPI_Datatype* types;

int make_room(size_t bytes) {
  const size_t wanted = bytes + 64;
  if (!counts) counts = malloc(sizeof(int) * (size_t)size);
  if (!places) places = malloc(sizeof(int) * (size_t)size);
  if (!types) types = malloc(sizeof(MPI_Datatype) * (size_t)size);
  if (!counts || !places || !types) return 0;
  if (wanted <= buffer_bytes) return 1;
  free(sent);
  free(received);
  sent = malloc(wanted);
  received = malloc(wanted);
  buffer_bytes = sent && received ? wanted : 0;
  if (!buffer_bytes) return 0;
  memset(sent, 1, wanted);  // so that the pages exist
  memset(received, 1, wanted);
  return 1;
}

unsigned char* message(void) { return sent; }

// A vector of the reductions: sums of floats if the number of bytes allows it. Sums of bytes would overflow, and Open
// MPI 4.1 then gives the largest byte (https://github.com/open-mpi/ompi/issues/8045).
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  int count;
} vector;

static int has_floats(size_t bytes) { return bytes % sizeof(float) == 0; }

static vector vector_of(size_t bytes) {
  return has_floats(bytes) ? (vector){MPI_FLOAT, MPI_SUM, (int)(bytes / sizeof(float))}
                           : (vector){MPI_UINT8_T, MPI_BXOR, (int)bytes};
}

static void equal_blocks(int bytes) {
  for (int i = 0; i < group_size; ++i) counts[i] = bytes, places[i] = i * bytes, types[i] = MPI_BYTE;
}

struct operation {
  const char* name;
  int blocks;   // of the larger buffer: 1, or as many as ranks (0)
  int reduces;  // its operands are vectors
  int (*call)(MPI_Comm comm, int bytes, int root, MPI_Request* request);
  // The right value of byte or element `i` of block `block`, for data made by value_of().
  int (*expected)(int block, size_t i, int root, int as_float);
  int at_root;           // only the root has a result
  int blocks_of_result;  // 1 or 0, as above
  int nonblocking;       // the nonblocking function, and a wait for it
};

// A hash function without collisions.
static uint32_t mixed(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352dU;
  x = (x ^ x >> 15) * 0x846ca68bU;
  return x ^ x >> 16;
}

// Byte or element `i` that `from` sends to `to`: never 0. The limits are prime numbers. The data of fewer ranks than
// the limit differ in each element, so that a lost, repeated or exchanged contribution changes each result. Sums of
// floats are exact for up to 4096 ranks.
static int value_of(int from, int to, size_t i, int as_float) {
  const uint32_t limit = as_float ? 4093 : 251, sender = (uint32_t)from, receiver = (uint32_t)to;
  const uint32_t beyond = sender / limit * 64 + receiver / limit;
  return (int)(1 + (sender * 7 + receiver * 3 + mixed((uint32_t)i + beyond * 0x9e3779b9U) % limit) % limit);
}

static int reduced_up_to(int last, int to, size_t i, int as_float) {
  int result = 0;
  for (int from = 0; from <= last; ++from) {
    const int value = value_of(from, to, i, as_float);
    result = as_float ? result + value : result ^ value;
  }
  return result;
}

// The nonblocking function if there is a request to start.
#define EITHER(blocking, nonblocking, ...) \
  (request ? MPI_I##nonblocking(__VA_ARGS__, request) : MPI_##blocking(__VA_ARGS__))

static int call_barrier(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)bytes, (void)root;
  return EITHER(Barrier, barrier, comm);
}
static int call_bcast(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  return EITHER(Bcast, bcast, group_rank == root ? sent : received, bytes, MPI_BYTE, root, comm);
}
static int call_reduce(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  const vector v = vector_of(bytes);
  return EITHER(Reduce, reduce, sent, received, v.count, v.type, v.op, root, comm);
}
static int call_allreduce(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  const vector v = vector_of(bytes);
  return EITHER(Allreduce, allreduce, sent, received, v.count, v.type, v.op, comm);
}
static int call_scan(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  const vector v = vector_of(bytes);
  return EITHER(Scan, scan, sent, received, v.count, v.type, v.op, comm);
}
static int call_exscan(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  const vector v = vector_of(bytes);
  return EITHER(Exscan, exscan, sent, received, v.count, v.type, v.op, comm);
}
static int call_reduce_scatter_block(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  const vector v = vector_of(bytes);
  return EITHER(Reduce_scatter_block, reduce_scatter_block, sent, received, v.count, v.type, v.op, comm);
}
static int call_reduce_scatter(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  const vector v = vector_of(bytes);
  equal_blocks(v.count);
  return EITHER(Reduce_scatter, reduce_scatter, sent, received, counts, v.type, v.op, comm);
}
static int call_gather(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  return EITHER(Gather, gather, sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, root, comm);
}
static int call_gatherv(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  equal_blocks(bytes);
  return EITHER(Gatherv, gatherv, sent, bytes, MPI_BYTE, received, counts, places, MPI_BYTE, root, comm);
}
static int call_scatter(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  return EITHER(Scatter, scatter, sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, root, comm);
}
static int call_scatterv(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  equal_blocks(bytes);
  return EITHER(Scatterv, scatterv, sent, counts, places, MPI_BYTE, received, bytes, MPI_BYTE, root, comm);
}
static int call_allgather(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  return EITHER(Allgather, allgather, sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, comm);
}
static int call_allgatherv(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  equal_blocks(bytes);
  return EITHER(Allgatherv, allgatherv, sent, bytes, MPI_BYTE, received, counts, places, MPI_BYTE, comm);
}
static int call_alltoall(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  return EITHER(Alltoall, alltoall, sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, comm);
}
static int call_alltoallv(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  equal_blocks(bytes);
  return EITHER(Alltoallv, alltoallv, sent, counts, places, MPI_BYTE, received, counts, places, MPI_BYTE, comm);
}

static int call_alltoallw(MPI_Comm comm, int bytes, int root, MPI_Request* request) {
  (void)root;
  equal_blocks(bytes);
  return EITHER(Alltoallw, alltoallw, sent, counts, places, types, received, counts, places, types, comm);
}

static int of_root(int block, size_t i, int root, int as_float) {
  (void)block;
  return value_of(root, 0, i, as_float);
}
static int of_all(int block, size_t i, int root, int as_float) {
  (void)root;
  return reduced_up_to(group_size - 1, block, i, as_float);
}
static int of_all_mine(int block, size_t i, int root, int as_float) {
  (void)block, (void)root;
  return reduced_up_to(group_size - 1, group_rank, i, as_float);
}
static int of_lower(int block, size_t i, int root, int as_float) {
  (void)block, (void)root;
  return reduced_up_to(group_rank, 0, i, as_float);
}
static int of_lower_others(int block, size_t i, int root, int as_float) {
  (void)block, (void)root;
  return reduced_up_to(group_rank - 1, 0, i, as_float);
}
static int from_block(int block, size_t i, int root, int as_float) {
  (void)root;
  return value_of(block, 0, i, as_float);
}
static int from_root_to_me(int block, size_t i, int root, int as_float) {
  (void)block;
  return value_of(root, group_rank, i, as_float);
}
static int from_block_to_me(int block, size_t i, int root, int as_float) {
  (void)root;
  return value_of(block, group_rank, i, as_float);
}

static const operation operations[] = {
    {"barrier", 1, 0, call_barrier, NULL, 0, 0},
    {"bcast", 1, 0, call_bcast, of_root, 0, 1},
    {"reduce", 1, 1, call_reduce, of_all, 1, 1},
    {"allreduce", 1, 1, call_allreduce, of_all, 0, 1},
    {"scan", 1, 1, call_scan, of_lower, 0, 1},
    {"exscan", 1, 1, call_exscan, of_lower_others, 0, 1},
    {"reduce_scatter_block", 0, 1, call_reduce_scatter_block, of_all_mine, 0, 1},
    {"reduce_scatter", 0, 1, call_reduce_scatter, of_all_mine, 0, 1},
    {"gather", 0, 0, call_gather, from_block, 1, 0},
    {"gatherv", 0, 0, call_gatherv, from_block, 1, 0},
    {"scatter", 0, 0, call_scatter, from_root_to_me, 0, 1},
    {"scatterv", 0, 0, call_scatterv, from_root_to_me, 0, 1},
    {"allgather", 0, 0, call_allgather, from_block, 0, 0},
    {"allgatherv", 0, 0, call_allgatherv, from_block, 0, 0},
    {"alltoall", 0, 0, call_alltoall, from_block_to_me, 0, 0},
    {"alltoallv", 0, 0, call_alltoallv, from_block_to_me, 0, 0},
    {"alltoallw", 0, 0, call_alltoallw, from_block_to_me, 0, 0},
};

const operation* find_operation(const char* name) {
  static operation started;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(operations[i].name, name) == 0) return &operations[i];
    if (name[0] != 'i' || strcmp(operations[i].name, name + 1) != 0) continue;
    started = operations[i];
    started.nonblocking = 1;
    return &started;
  }
  return NULL;
}

int blocks_of(const operation* what) { return what->blocks ? what->blocks : group_size; }

int call(const operation* what, MPI_Comm comm, int bytes, int root) {
  if (!what->nonblocking) return what->call(comm, bytes, root, NULL);
  MPI_Request request;
  const int code = what->call(comm, bytes, root, &request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

static void put(unsigned char* block, size_t i, int value, int as_float) {
  if (as_float) ((float*)block)[i] = (float)value;
  else block[i] = (unsigned char)value;
}

static int has(const unsigned char* block, size_t i, int value, int as_float) {
  return as_float ? ((const float*)block)[i] == (float)value : block[i] == (unsigned char)value;
}

void make_data(const operation* what, size_t bytes) {
  const int as_float = what->reduces && has_floats(bytes);
  const size_t elements = as_float ? bytes / sizeof(float) : bytes;
  const int blocks = blocks_of(what);
  for (int block = 0; block < blocks; ++block)
    for (size_t i = 0; i < elements; ++i)
      put(sent + block * bytes, i, value_of(group_rank, block, i, as_float), as_float);
  memset(received, 0xFF, bytes * blocks);
}

static int has_result(const operation* what, int root) {
  if (!what->expected || (what->at_root && group_rank != root)) return 0;
  if (what->call == call_exscan && group_rank == 0) return 0;
  return what->call != call_bcast || group_rank != root;
}

int result_is_right(const operation* what, size_t bytes, int root) {
  if (!has_result(what, root)) return 1;
  const int as_float = what->reduces && has_floats(bytes);
  const size_t elements = as_float ? bytes / sizeof(float) : bytes;
  const int blocks = what->blocks_of_result ? 1 : group_size;
  for (int block = 0; block < blocks; ++block)
    for (size_t i = 0; i < elements; ++i)
      if (!has(received + block * bytes, i, what->expected(block, i, root, as_float), as_float)) return 0;
  return 1;
}

static size_t bytes_of_result(const operation* what, size_t bytes) {
  return bytes * (size_t)(what->blocks_of_result ? 1 : group_size);
}

int keep_result(const operation* what, size_t bytes) {
  const size_t wanted = bytes_of_result(what, bytes);
  unsigned char* const larger = realloc(kept, wanted + 1);
  if (!larger) return 0;
  kept = larger;
  memcpy(kept, received, wanted);
  return 1;
}

void drop_result(const operation* what, size_t bytes) { memset(received, 0xFF, bytes_of_result(what, bytes)); }

int result_is_kept(const operation* what, size_t bytes, int root) {
  return !has_result(what, root) || memcmp(kept, received, bytes_of_result(what, bytes)) == 0;
}
