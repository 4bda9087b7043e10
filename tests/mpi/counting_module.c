// An MPI module that counts the messages of lines: the one in COUNTED_MODULE, which does the work. At the end, rank R
// writes a line with rank and number to COUNTS.R for each rank that it has sent messages to.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "culmen/transport/mpi/module.h"

static const struct culmen_mpi_module* real;
static long messages[4096];

static int post_send(const void* bytes, size_t n, int to, int tag, culmen_mpi_request* request) {
  enum { down = 1, up = 2 };
  if (tag == down || tag == up) ++messages[to];
  return real->post_send(bytes, n, to, tag, request);
}

static int finalize(void) {
  int rank = 0, size = 0;
  char name[4096];
  if (real->rank(&rank, &size) == 0) {
    snprintf(name, sizeof name, "%s.%d", getenv("COUNTS"), rank);
    FILE* out = fopen(name, "w");
    for (int to = 0; to < size && out != NULL; ++to)
      if (messages[to] > 0) fprintf(out, "%d %ld\n", to, messages[to]);
    if (out != NULL) fclose(out);
  }
  return real->finalize();
}

__attribute__((visibility("default"))) const struct culmen_mpi_module* culmen_mpi_module_get(void) {
  static struct culmen_mpi_module counting;
  void* library = dlopen(getenv("COUNTED_MODULE"), RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  real = ((culmen_mpi_module_fn)dlsym(library, CULMEN_MPI_MODULE_SYMBOL))();
  counting = *real;
  counting.post_send = post_send;
  counting.finalize = finalize;
  return &counting;
}
