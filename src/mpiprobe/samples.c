// Samples of waiting: before a collective function, the library calls one of the same kind with hardly any data. This
// call ends when all ranks whose data are needed have called the function. Before a receive, MPI_Probe ends when the
// message has arrived. The rest of the function's time moves data.
#include <stdlib.h>

#include "mpiprobe/record.h"
#include "mpiprobe/sampling.h"

unsigned probe_period;

/// The attribute of each communicator with the number of its calls. All ranks call its collective functions in the same
/// order.
static int calls_key = MPI_KEYVAL_INVALID;
static unsigned receives;

static int (*get)(MPI_Comm, int, void*, int*);
static int (*set)(MPI_Comm, int, void*);
static int (*barrier)(MPI_Comm);
static int (*bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
static int (*reduce)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
static int (*scan)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
static int (*gather)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);  // of the neighbours
static MPI_Datatype integer;
static MPI_Op largest;
static int (*probe)(int, int, MPI_Comm, MPI_Status*);

/// A copy of a communicator counts from 0. MPI's own function for this is a symbol of one MPI only.
static int not_copied(MPI_Comm from, int key, void* extra, void* value, void* copy, int* flag) {
  (void)from, (void)key, (void)extra, (void)value, (void)copy;
  *flag = 0;
  return MPI_SUCCESS;
}

static int not_deleted(MPI_Comm of, int key, void* value, void* extra) {
  (void)of, (void)key, (void)value, (void)extra;
  return MPI_SUCCESS;
}

void probe_begin_samples(void) {
  const char* const text = getenv("CULMEN_PROFILE_IMBALANCE");
  const long period = text != NULL ? strtol(text, NULL, 10) : 0;
  if (period <= 0 || period > INT32_MAX) return;
  typedef int create(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int*, void*);
  create* const create_key = (create*)probe_find("MPI_Comm_create_keyval");
  get = (int (*)(MPI_Comm, int, void*, int*))probe_find("MPI_Comm_get_attr");
  set = (int (*)(MPI_Comm, int, void*))probe_find("MPI_Comm_set_attr");
  barrier = (int (*)(MPI_Comm))probe_find("MPI_Barrier");
  bcast = (int (*)(void*, int, MPI_Datatype, int, MPI_Comm))probe_find("MPI_Bcast");
  reduce = (int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm))probe_find("MPI_Reduce");
  scan = (int (*)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm))probe_find("MPI_Scan");
  gather =
      (int (*)(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm))probe_find("MPI_Neighbor_allgather");
  integer = PROBE_OBJECT("ompi_mpi_int", MPI_INT);
  largest = PROBE_OBJECT("ompi_mpi_op_max", MPI_MAX);
  probe = (int (*)(int, int, MPI_Comm, MPI_Status*))probe_find("MPI_Probe");
  if (create_key(not_copied, not_deleted, &calls_key, NULL) == MPI_SUCCESS) probe_period = (unsigned)period;
}

static int is_sample_of(MPI_Comm communicator) {
  uintptr_t calls = 0;
  void* value = NULL;
  int known = 0;
  if (get(communicator, calls_key, &value, &known) != MPI_SUCCESS) return 0;
  if (known) calls = (uintptr_t)value;
  return set(communicator, calls_key, (void*)(calls + 1)) == MPI_SUCCESS && probe_is_sample(calls, probe_period);
}

uint64_t probe_wait_for_all(MPI_Comm communicator) {
  if (!is_sample_of(communicator)) return probe_no_sample;
  const uint64_t begin = probe_ticks();
  barrier(communicator);
  return probe_ticks() - begin;
}

uint64_t probe_wait_for_root(int root, MPI_Comm communicator) {
  if (!is_sample_of(communicator)) return probe_no_sample;
  int here = 0;
  const uint64_t begin = probe_ticks();
  bcast(&here, 1, integer, root, communicator);
  return probe_ticks() - begin;
}

uint64_t probe_wait_at_root(int root, MPI_Comm communicator) {
  if (!is_sample_of(communicator)) return probe_no_sample;
  int here = 0, all = 0;
  const uint64_t begin = probe_ticks();
  reduce(&here, &all, 1, integer, largest, root, communicator);
  return probe_ticks() - begin;
}

uint64_t probe_wait_for_lower(MPI_Comm communicator) {
  if (!is_sample_of(communicator)) return probe_no_sample;
  int here = 0, all = 0;
  const uint64_t begin = probe_ticks();
  scan(&here, &all, 1, integer, largest, communicator);
  return probe_ticks() - begin;
}

uint64_t probe_wait_for_neighbours(MPI_Comm communicator) {
  if (!is_sample_of(communicator)) return probe_no_sample;
  int here = 0, *const all = malloc(sizeof(int) * (size_t)(probe_source_count(communicator) + 1));
  const uint64_t begin = probe_ticks();
  if (all != NULL) gather(&here, 1, integer, all, 1, integer, communicator);
  const uint64_t end = probe_ticks();
  free(all);
  return end - begin;
}

uint64_t probe_wait_for_sender(int source, int tag, MPI_Comm communicator) {
  if (!probe_is_sample(__atomic_fetch_add(&receives, 1, __ATOMIC_RELAXED), probe_period)) return probe_no_sample;
  const uint64_t begin = probe_ticks();
  probe(source, tag, communicator, MPI_STATUS_IGNORE);
  return probe_ticks() - begin;
}
