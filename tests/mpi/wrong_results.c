// Gives the benchmark's check results that are wrong in one contribution, and prints those that it does not notice. The
// program plays all ranks itself, so that it needs no MPI_Init.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "operations.h"
#include "ranks.h"

MPI_Comm control, group;
int rank, size, group_rank, group_size, group_count;

static unsigned char* data;  // that each rank sends to rank 0, one after the other
static size_t bytes;
static int wrong, instead;  // the contribution of `wrong` is that of `instead`; if both are equal, it is lost

static const unsigned char* contribution(int from) {
  static const unsigned char nothing[64];
  return from != wrong ? data + from * bytes : instead == wrong ? nothing : data + instead * bytes;
}

int MPI_Allreduce(const void* own, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)own, (void)op, (void)comm;
  memset(result, 0, bytes);
  for (int from = 0; from < size; ++from)
    for (int i = 0; i < count; ++i) {
      if (type == MPI_FLOAT) ((float*)result)[i] += ((const float*)contribution(from))[i];
      else ((unsigned char*)result)[i] ^= contribution(from)[i];
    }
  return MPI_SUCCESS;
}

int MPI_Allgather(const void* own, int count, MPI_Datatype type, void* result, int received, MPI_Datatype other,
                  MPI_Comm comm) {
  (void)own, (void)count, (void)type, (void)received, (void)other, (void)comm;
  for (int from = 0; from < size; ++from) memcpy((unsigned char*)result + from * bytes, contribution(from), bytes);
  return MPI_SUCCESS;
}

static int is_right(const operation* what) {
  make_data(what, bytes);
  call(what, MPI_COMM_NULL, (int)bytes, 0);
  return result_is_right(what, bytes, 0);
}

static void try_all(const char* name) {
  const operation* what = find_operation(name);
  if (!make_room(bytes * (size_t)blocks_of(what))) exit(1);
  for (group_rank = 0; group_rank < size; ++group_rank)
    make_data(what, bytes), memcpy(data + group_rank * bytes, message(), bytes);
  group_rank = 0, wrong = -1;
  if (!is_right(what)) printf("%s, %d ranks, %zu B: a right result is refused\n", name, size, bytes);
  for (wrong = 0; wrong < size; ++wrong)
    for (instead = 0; instead < size; ++instead)
      if (is_right(what))
        printf("%s, %d ranks, %zu B: %d instead of %d is not noticed\n", name, size, bytes, instead, wrong), exit(0);
}

int main(int argc, char** argv) {
  size = group_size = argc > 1 ? atoi(argv[1]) : 0;
  data = malloc((size_t)size * 64);
  if (!data) return 1;
  for (int each = 2; each < argc; ++each) {
    bytes = (size_t)atoi(argv[each]);
    try_all("allreduce");
    try_all("allgather");
  }
  return 0;
}
