#include "culmen/transport/mpi/module.h"

#include <mpi.h>
#include <string.h>

static MPI_Comm ours = MPI_COMM_NULL, line = MPI_COMM_NULL;
static int initialised_here;

static int init(void) {
  int initialised = 0, provided = 0;
  int error = MPI_Initialized(&initialised);
  if (error == MPI_SUCCESS && !initialised) {
    error = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
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

static int open_line(void) {
  if (line != MPI_COMM_NULL) return MPI_SUCCESS;
  const int error = MPI_Comm_dup(ours, &line);
  return error == MPI_SUCCESS ? MPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN) : error;
}

_Static_assert(sizeof(MPI_Request) <= sizeof(culmen_mpi_request), "a request fits");

static void keep(MPI_Request request, culmen_mpi_request* kept) {
  *kept = 0;
  memcpy(kept, &request, sizeof request);
}

static MPI_Request kept_in(const culmen_mpi_request* kept) {
  MPI_Request request;
  memcpy(&request, kept, sizeof request);
  return request;
}

static int post_send(const void* bytes, size_t n, int to, int tag, culmen_mpi_request* kept) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = MPI_Isend(bytes, (int)n, MPI_BYTE, to, tag, line, &request);
  keep(request, kept);
  return error;
}

static int post_receive(void* bytes, size_t n, int tag, culmen_mpi_request* kept) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int error = MPI_Irecv(bytes, (int)n, MPI_BYTE, MPI_ANY_SOURCE, tag, line, &request);
  keep(request, kept);
  return error;
}

static int test(culmen_mpi_request* kept, int* done, int* from, size_t* n) {
  MPI_Request request = kept_in(kept);
  MPI_Status status;
  int error = MPI_Test(&request, done, &status);
  keep(request, kept);
  if (error != MPI_SUCCESS || !*done) return error;
  int count = 0;
  error = MPI_Get_count(&status, MPI_BYTE, &count);
  *from = status.MPI_SOURCE;
  *n = count == MPI_UNDEFINED ? 0 : (size_t)count;
  return error;
}

static int cancel(culmen_mpi_request* kept) {
  MPI_Request request = kept_in(kept);
  const int error = MPI_Cancel(&request);
  return error == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : error;
}

static int may_use_line(int* may) {
  int level = 0, is_main = 0;
  int error = MPI_Query_thread(&level);
  if (error == MPI_SUCCESS) error = MPI_Is_thread_main(&is_main);
  *may = is_main || level >= MPI_THREAD_SERIALIZED;
  return error;
}

/* `pristine` never carries a message. A former communicator may still hold some. MPICH has 2048 numbers for
 * communicators and gives that of a freed one to the next, which would then receive these messages. Therefore it is
 * freed late, and after its messages were taken out of the queue. Those of abandoned collectives cannot be taken out.
 */
enum { most_former = 500 };
static MPI_Comm pristine = MPI_COMM_NULL, teams = MPI_COMM_NULL, former[most_former];
static size_t renewals;

/* No message is received: the memory of its sender may be gone. */
static int discard_messages(MPI_Comm communicator) {
  int found = 1, error = MPI_SUCCESS;
  while (found && error == MPI_SUCCESS) {
    MPI_Message message;
    error = MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator, &found, &message, MPI_STATUS_IGNORE);
  }
  return error;
}

static int form_team(int number, int* communicator) {
  renewals = 0;
  int error = MPI_Comm_split(ours, number < 0 ? MPI_UNDEFINED : number, 0, &pristine);
  if (error != MPI_SUCCESS || number < 0) return error;
  error = MPI_Comm_dup(pristine, &teams);
  *communicator = (int)MPI_Comm_c2f(teams);
  return error;
}

static int renew_team(int* communicator) {
  MPI_Comm* oldest = &former[renewals % most_former];
  int error = MPI_SUCCESS;
  if (renewals >= most_former) {
    error = discard_messages(*oldest);
    if (error == MPI_SUCCESS) error = MPI_Comm_free(oldest);
  }
  if (error != MPI_SUCCESS) return error;
  *oldest = teams;
  ++renewals;
  error = MPI_Comm_dup(pristine, &teams);
  *communicator = (int)MPI_Comm_c2f(teams);
  return error;
}

static int leave_team(void) {
  if (pristine == MPI_COMM_NULL) return MPI_SUCCESS;
  const int error = MPI_Comm_free(&teams);
  return error == MPI_SUCCESS ? MPI_Comm_free(&pristine) : error;
}

static int finalize(void) {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized) return MPI_SUCCESS;
  int error = line != MPI_COMM_NULL ? MPI_Comm_free(&line) : MPI_SUCCESS;
  if (error == MPI_SUCCESS) error = MPI_Comm_free(&ours);
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
      .open_line = open_line,
      .post_send = post_send,
      .post_receive = post_receive,
      .test = test,
      .cancel = cancel,
      .may_use_line = may_use_line,
      .form_team = form_team,
      .renew_team = renew_team,
      .leave_team = leave_team,
      .finalize = finalize,
      .library_version = library_version,
      .error_text = error_text,
  };
  return &module;
}
