// Communicators by their handles, and how they came to be.
#include <stdio.h>

#include "mpiprobe/record.h"

#if defined(OPEN_MPI)
#define OBJECT(name, otherwise) ((MPI_Comm)probe_object(name))
#else
#define OBJECT(name, otherwise) (otherwise)
#endif

enum { slots = 4 * probe_most_communicators };
static struct {
  uint64_t handle;  // + 1; 0: free
  unsigned number;
} places[slots];
static unsigned children[probe_most_communicators];  // communicators made of it
static MPI_Comm no_communicator;
static int adding;  // a lock

void probe_lock(void) {
  while (__atomic_exchange_n(&adding, 1, __ATOMIC_ACQUIRE)) {
  }
}
void probe_unlock(void) { __atomic_store_n(&adding, 0, __ATOMIC_RELEASE); }

static uint64_t handle_of(MPI_Comm communicator) { return (uint64_t)(uintptr_t)communicator + 1; }

/// -1: unknown.
static int number_of(uint64_t handle) {
  uint64_t at = probe_mixed(handle) % slots;
  for (unsigned tries = 0; tries < slots; ++tries, at = (at + 1) % slots) {
    const uint64_t there = __atomic_load_n(&places[at].handle, __ATOMIC_ACQUIRE);
    if (there == handle) return (int)__atomic_load_n(&places[at].number, __ATOMIC_RELAXED);
    if (there == 0) return -1;
  }
  return -1;
}

/// With the lock. A handle that was freed may come again.
static void set_number(uint64_t handle, unsigned number) {
  uint64_t at = probe_mixed(handle) % slots;
  for (unsigned tries = 0; tries < slots; ++tries, at = (at + 1) % slots) {
    if (places[at].handle != 0 && places[at].handle != handle) continue;
    __atomic_store_n(&places[at].number, number, __ATOMIC_RELAXED);
    __atomic_store_n(&places[at].handle, handle, __ATOMIC_RELEASE);
    return;
  }
}

/// With the lock.
static unsigned add_communicator(MPI_Comm made, const char* origin) {
  const unsigned number = probe_profile->header.communicators;
  if (number >= probe_no_communicator) return probe_further_communicators;
  struct probe_communicator* c = &probe_profile->communicators[number];
  int (*const size)(MPI_Comm, int*) = (int (*)(MPI_Comm, int*))probe_find("MPI_Comm_size");
  int (*const rank)(MPI_Comm, int*) = (int (*)(MPI_Comm, int*))probe_find("MPI_Comm_rank");
  size(made, &c->size);
  rank(made, &c->rank);
  snprintf(c->origin, sizeof c->origin, "%s", origin);
  probe_profile->header.communicators = number + 1;
  set_number(handle_of(made), number);
  return number;
}

unsigned probe_communicator(MPI_Comm communicator) {
  static __thread uint64_t last_handle;
  static __thread unsigned last_number;
  if (probe_profile == NULL) return 0;
  const uint64_t handle = handle_of(communicator);
  if (handle == last_handle &&
      __atomic_load_n(&places[probe_mixed(handle) % slots].handle, __ATOMIC_RELAXED) == handle &&
      places[probe_mixed(handle) % slots].number == last_number)
    return last_number;
  int number = number_of(handle);
  if (number < 0) {
    probe_lock();
    number = number_of(handle);
    if (number < 0) {
      char origin[probe_origin_bytes];
      snprintf(origin, sizeof origin, "made by an unknown function, %u", probe_profile->header.communicators);
      number = (int)add_communicator(communicator, origin);
    }
    probe_unlock();
  }
  last_handle = handle;
  last_number = (unsigned)number;
  return last_number;
}

void probe_created(unsigned parent, MPI_Comm made, const char* how, int colour) {
  if (probe_profile == NULL) return;
  probe_lock();
  const unsigned of_parent = ++children[parent];
  if (made != no_communicator) {
    char origin[probe_origin_bytes + 64], suffix[32] = "";
    if (colour >= 0) snprintf(suffix, sizeof suffix, " colour %d", colour);
    snprintf(origin, sizeof origin, "%s/%s %u%s", probe_profile->communicators[parent].origin, how, of_parent, suffix);
    origin[probe_origin_bytes - 1] = '\0';
    add_communicator(made, origin);
  }
  probe_unlock();
}

uint64_t probe_group_size(unsigned communicator) {
  return probe_profile == NULL ? 0 : (uint64_t)probe_profile->communicators[communicator].size;
}

int probe_group_rank(unsigned communicator) {
  return probe_profile == NULL ? 0 : probe_profile->communicators[communicator].rank;
}

uint64_t probe_large_sum_of(const MPI_Count* counts, unsigned communicator) {
  uint64_t sum = 0;
  for (uint64_t k = 0; k < probe_group_size(communicator); ++k) sum += (uint64_t)counts[k];
  return sum;
}

uint64_t probe_sum_of(const int* counts, unsigned communicator) {
  uint64_t sum = 0;
  for (uint64_t k = 0; k < probe_group_size(communicator); ++k) sum += (uint64_t)counts[k];
  return sum;
}

void probe_begin_communicators(void) {
  no_communicator = OBJECT("ompi_mpi_comm_null", MPI_COMM_NULL);
  probe_lock();
  add_communicator(OBJECT("ompi_mpi_comm_world", MPI_COMM_WORLD), "world");
  add_communicator(OBJECT("ompi_mpi_comm_self", MPI_COMM_SELF), "self");
  snprintf(probe_profile->communicators[probe_further_communicators].origin, probe_origin_bytes,
           "further communicators");
  probe_unlock();
}
