// path_program: broadcasts of 256 KiB, and then some of 1 MiB. Prints the copies between processes in the later ones on
// all ranks, and how many variables that choose algorithms have other values than at the beginning.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { most = 256, first_bytes = 256 << 10, later_bytes = 1 << 20, first_calls = 60, later_calls = 20 };
static long copies;

// Instead of that of the C library, which the MPI would call.
ssize_t process_vm_readv(pid_t pid, const struct iovec* own, unsigned long owns, const struct iovec* other,
                         unsigned long others, unsigned long flags) {
  ++copies;
  return syscall(SYS_process_vm_readv, pid, own, owns, other, others, flags);
}

static int values[most], count;
static MPI_T_cvar_handle handles[most];

static int chooses(const char* name) {
  return (strncmp(name, "coll_tuned_", 11) == 0 && strstr(name, "_algorithm") != NULL &&
          strstr(name, "_algorithm_") == NULL) ||
         (strncmp(name, "MPIR_CVAR_", 10) == 0 && strstr(name, "_ALGORITHM") != NULL);
}

static void find_variables(void) {
  int got, all = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &got);
  MPI_T_cvar_get_num(&all);
  for (int k = 0; k < all && count < most; ++k) {
    char name[256] = "";
    int length = sizeof name, level, binding, scope, values_in = 0;
    MPI_Datatype type;
    MPI_T_enum choices;
    if (MPI_T_cvar_get_info(k, name, &length, &level, &type, &choices, NULL, NULL, &binding, &scope) != MPI_SUCCESS ||
        !chooses(name) || type != MPI_INT)
      continue;
    if (MPI_T_cvar_handle_alloc(k, NULL, &handles[count], &values_in) != MPI_SUCCESS || values_in != 1) continue;
    MPI_T_cvar_read(handles[count], &values[count]);
    ++count;
  }
}

static int changed(void) {
  int number = 0;
  for (int k = 0; k < count; ++k) {
    int value = -1;
    MPI_T_cvar_read(handles[k], &value);
    number += value != values[k];
  }
  return number;
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  find_variables();
  char* const data = malloc(later_bytes);
  int rank, different = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  memset(data, rank, later_bytes);
  for (int k = 0; k < first_calls; ++k) {
    MPI_Bcast(data, first_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    different += changed();
  }
  MPI_Bcast(data, later_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  copies = 0;
  for (int k = 0; k < later_calls; ++k) MPI_Bcast(data, later_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  long mine[2] = {copies, different}, sums[2] = {0, 0};
  MPI_Reduce(mine, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d variables, %ld changed, %ld copies\n", count > 0, sums[1], sums[0]);
  free(data);
  MPI_Finalize();
  return 0;
}
