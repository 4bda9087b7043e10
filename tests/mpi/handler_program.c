// Wrong calls whose error handler does not return, among right ones: handler_program ROUNDS all|some. Prints "N wrong"
// at rank 0. With "some", the handlers of odd ranks return.
#include <mpi.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "known_values.h"

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 50000000
enum { error_is_lost = 1 };  // after a handler that returns, calls of MPICH 5 return MPI_SUCCESS
#else
enum { error_is_lost = 0 };
#endif
enum { most = 64 };
static jmp_buf before_call;
static MPI_Comm copy;
static int jumps, handled;

static void handler(MPI_Comm* comm, int* code, ...) {
  expect(*comm == copy, "the communicator of an error", handled);
  int class = MPI_SUCCESS;
  MPI_Error_class(*code, &class);
  expect(class == MPI_ERR_ROOT, "the class of an error", class);
  ++handled;
  if (jumps) longjmp(before_call, 1);
}

/// The variables that choose an algorithm, as another part of the process sees them.
static int is_chosen(void) {
  static const char* const names[] = {
      "MPIR_CVAR_BCAST_INTRA_ALGORITHM",  "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", "MPIR_CVAR_IBCAST_INTRA_ALGORITHM",
      "MPIR_CVAR_REDUCE_INTRA_ALGORITHM", "MPIR_CVAR_IREDUCE_INTRA_ALGORITHM", "coll_tuned_bcast_algorithm",
      "coll_tuned_reduce_algorithm",      "coll_libnbc_ibcast_algorithm",      "coll_libnbc_ireduce_algorithm"};
  static int first[sizeof names / sizeof *names], known;
  int changed = 0;
  for (unsigned k = 0; k < sizeof names / sizeof *names; ++k) {
    MPI_T_cvar_handle variable;
    int index, count, now = 0;
    if (MPI_T_cvar_get_index(names[k], &index) != MPI_SUCCESS) continue;
    MPI_T_cvar_handle_alloc(index, NULL, &variable, &count);
    MPI_T_cvar_read(variable, &now);
    MPI_T_cvar_handle_free(&variable);
    if (!known) first[k] = now;
    changed += first[k] != now;
  }
  known = 1;
  return changed;
}

static void wrong_call(int nonblocking, int number) {
  static int data[most], sums[most];
  MPI_Request request = MPI_REQUEST_NULL;
  const int before = handled;
  if (setjmp(before_call) == 0) {
    int error;
    if (number % 2)
      error = nonblocking ? MPI_Ireduce(data, sums, most, MPI_INT, MPI_SUM, size, copy, &request)
                          : MPI_Reduce(data, sums, most, MPI_INT, MPI_SUM, size, copy);
    else
      error = nonblocking ? MPI_Ibcast(data, most, MPI_INT, size, copy, &request)
                          : MPI_Bcast(data, most, MPI_INT, size, copy);
    expect(!jumps && (error != MPI_SUCCESS || error_is_lost), "a call of no rank", number);
  }
  expect(handled == before + 1, "the number of errors", handled - before);
  expect(!is_chosen(), "a variable after an error", number);
}

static void right_calls(MPI_Comm comm, int nonblocking, int number) {
  int data[most], sums[most];
  MPI_Request request = MPI_REQUEST_NULL;
  const int root = number % size;
  for (int k = 0; k < most; ++k) data[k] = rank == root ? value(root, k) : -1;
  if (nonblocking) MPI_Ibcast(data, most, MPI_INT, root, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
  else MPI_Bcast(data, most, MPI_INT, root, comm);
  for (int k = 0; k < most; ++k) expect(data[k] == value(root, k), "MPI_Bcast", number);
  for (int k = 0; k < most; ++k) data[k] = value(rank, k);
  if (nonblocking)
    MPI_Ireduce(data, sums, most, MPI_INT, MPI_SUM, root, comm, &request), MPI_Wait(&request, MPI_STATUS_IGNORE);
  else MPI_Reduce(data, sums, most, MPI_INT, MPI_SUM, root, comm);
  for (int k = 0; k < most && rank == root; ++k) expect(sums[k] == sum_of(size, k), "MPI_Reduce", number);
}

int main(int argc, char** argv) {
  int level, total = 0;
  MPI_Init(&argc, &argv);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  const int rounds = argc > 1 ? atoi(argv[1]) : 40, some = argc > 2 && strcmp(argv[2], "some") == 0;
  MPI_Errhandler own;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(copy, own);
  MPI_Errhandler_free(&own);
  is_chosen();
  jumps = !some || rank % 2 == 0;
  for (int k = 0; k < rounds; ++k) {
    for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
      wrong_call(nonblocking, k);
      right_calls(copy, nonblocking, k);
      right_calls(MPI_COMM_WORLD, nonblocking, k);
    }
  }
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", total);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
