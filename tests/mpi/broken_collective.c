// Breaks PMPI_Bcast from its 20th call on: it ends the rank, it hangs, or its result is wrong. Preloaded as libmpi.so.…
// or libmpich.so.…, so that the tuner takes it for the library of the MPI. Programs without the tuner call MPI_Bcast of
// the real library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int PMPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static __typeof(&PMPI_Bcast) real;
  static int calls;
  if (real == NULL) real = (__typeof(real))dlsym(RTLD_NEXT, "PMPI_Bcast");
  const int code = real(data, count, type, root, comm);
  if (++calls < 20) return code;
  if (strcmp(getenv("BROKEN"), "ends") == 0) abort();
  while (strcmp(getenv("BROKEN"), "hangs") == 0) pause();
  if (count > 0) ((char*)data)[count - 1] ^= 1;
  return code;
}
