#include "culmen/transport/mpi/module.h"

#include <mpi.h>
#include <string.h>

static MPI_Comm ours = MPI_COMM_NULL;
static int initialised_here;

static int init(void) {
  int initialised = 0, provided = 0;
  int error = MPI_Initialized(&initialised);
  if (error == MPI_SUCCESS && !initialised) {
    error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    initialised_here = error == MPI_SUCCESS;
  }
  if (error == MPI_SUCCESS) error = MPI_Comm_dup(MPI_COMM_WORLD, &ours);
  return error == MPI_SUCCESS ? MPI_Comm_set_errhandler(ours, MPI_ERRORS_RETURN) : error;
}

static int rank(int* rank, int* size) {
  const int error = MPI_Comm_rank(ours, rank);
  return error == MPI_SUCCESS ? MPI_Comm_size(ours, size) : error;
}

static int broadcast(void* bytes, size_t n) { return MPI_Bcast(bytes, (int)n, MPI_BYTE, 0, ours); }

static int gather(const void* mine, size_t n, void* all) {
  return MPI_Gather(mine, (int)n, MPI_BYTE, all, (int)n, MPI_BYTE, 0, ours);
}

static int barrier(void) { return MPI_Barrier(ours); }

static int finalize(void) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return MPI_SUCCESS;
  const int error = MPI_Comm_free(&ours);
  return error == MPI_SUCCESS && initialised_here ? MPI_Finalize() : error;
}

static int library_version(char* text, size_t n) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  const int error = MPI_Get_library_version(version, &length);
  if (error != MPI_SUCCESS) return error;
  strncpy(text, version, n - 1);
  text[n - 1] = '\0';
  return MPI_SUCCESS;
}

static void error_text(int code, char* text, size_t n) {
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, message, &length);
  strncpy(text, message, n - 1);
  text[n - 1] = '\0';
}

__attribute__((visibility("default"))) const struct culmen_mpi_module* culmen_mpi_module_get(void) {
  static const struct culmen_mpi_module module = {
      .abi = CULMEN_MPI_MODULE_ABI,
#ifdef OPEN_MPI
      .name = "openmpi",
#else
      .name = "mpich",
#endif
      .init = init,
      .rank = rank,
      .broadcast = broadcast,
      .gather = gather,
      .barrier = barrier,
      .finalize = finalize,
      .library_version = library_version,
      .error_text = error_text,
  };
  return &module;
}
