// Preloaded: notes the fan-out and the segment size with which Open MPI runs the algorithm chain, in the file CHAINS.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int ompi_coll_base_bcast_intra_chain(void* data, int count, void* type, int root, void* comm, void* module,
                                     uint32_t segment, int32_t fan) {
  int (*chain)(void*, int, void*, int, void*, void*, uint32_t, int32_t) = dlsym(RTLD_NEXT, __func__);
  FILE* file = fopen(getenv("CHAINS"), "a");
  if (file != NULL) {
    fprintf(file, "%d %u\n", (int)fan, (unsigned)segment);
    fclose(file);
  }
  return chain(data, count, type, root, comm, module, segment, fan);
}
