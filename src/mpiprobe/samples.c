// Samples of waiting: a barrier before a collective function ends when the last rank has called it, and MPI_Probe
// before a receive ends when the message has arrived. What the function itself takes then is the time that moves data.
#include <stdlib.h>

#include "mpiprobe/record.h"

unsigned probe_period;

/// Of each communicator, with the number of its calls: all ranks call its collective functions in the same order.
static int calls_key = MPI_KEYVAL_INVALID;
static unsigned receives;

static int (*get)(MPI_Comm, int, void*, int*);
static int (*set)(MPI_Comm, int, void*);
static int (*barrier)(MPI_Comm);
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
  probe = (int (*)(int, int, MPI_Comm, MPI_Status*))probe_find("MPI_Probe");
  if (create_key(not_copied, not_deleted, &calls_key, NULL) == MPI_SUCCESS) probe_period = (unsigned)period;
}

/// In the middle of each period: the first calls open connections.
static int is_sample(uintptr_t calls) { return calls % probe_period == probe_period / 2; }

uint64_t probe_wait_for_all(MPI_Comm communicator) {
  uintptr_t calls = 0;
  void* value = NULL;
  int known = 0;
  if (get(communicator, calls_key, &value, &known) != MPI_SUCCESS) return probe_no_sample;
  if (known) calls = (uintptr_t)value;
  if (set(communicator, calls_key, (void*)(calls + 1)) != MPI_SUCCESS || !is_sample(calls)) return probe_no_sample;
  const uint64_t begin = probe_ticks();
  barrier(communicator);
  return probe_ticks() - begin;
}

uint64_t probe_wait_for_sender(int source, int tag, MPI_Comm communicator) {
  if (!is_sample(__atomic_fetch_add(&receives, 1, __ATOMIC_RELAXED))) return probe_no_sample;
  const uint64_t begin = probe_ticks();
  probe(source, tag, communicator, MPI_STATUS_IGNORE);
  return probe_ticks() - begin;
}
