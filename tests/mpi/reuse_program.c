// Ends nonblocking broadcasts past every library that is preloaded, and then waits for reductions that begin late. An
// MPI gives them the handles of the broadcasts: reuse_program CALLS. Prints how many handles it has used again.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find_mpi(struct dl_phdr_info* info, size_t size, void* library) {
  (void)size;
  if (strstr(info->dlpi_name, "/libmpi.so") == NULL && strstr(info->dlpi_name, "/libmpich.so") == NULL) return 0;
  *(void**)library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return 1;
}

int main(int argc, char** argv) {
  enum { most = 64 };
  MPI_Init(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 60;
  int rank, sum = 0, again = 0, numbers[most] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* library = NULL;
  dl_iterate_phdr(find_mpi, &library);
  int (*const wait)(MPI_Request*, MPI_Status*) = (int (*)(MPI_Request*, MPI_Status*))dlsym(library, "PMPI_Wait");
  for (int k = 0; k < calls; ++k) {
    MPI_Request request;
    MPI_Ibcast(numbers, most, MPI_INT, 0, MPI_COMM_WORLD, &request);
    const MPI_Request before = request;
    wait(&request, MPI_STATUS_IGNORE);
    for (const double until = MPI_Wtime() + 2e-3; rank == 0 && MPI_Wtime() < until;) {
    }
    MPI_Iallreduce(&k, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    again += request == before;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%d again\n", again);
  MPI_Finalize();
  return 0;
}
