// Communicators, windows and files by their handles.
#include <stdio.h>
#include <string.h>

#include "mpiprobe/names.h"
#include "mpiprobe/record.h"

enum { slots = 4 * probe_most_communicators, unknown = -1 };
static struct {
  uint64_t handle;  // 0: free
  int number;       // unknown: freed
} places[slots];
static uint64_t
    others[probe_most_communicators];  // ranks that a rank sends to: the remote group of an intercommunicator
static struct probe_ranks neighbours[probe_most_communicators];
static int neighbours_known[probe_most_communicators];
static MPI_Comm no_communicator;
static MPI_Info no_info;
static int number_of(uint64_t handle) {
  uint64_t at = probe_mixed(handle) % slots;
  for (unsigned tries = 0; tries < slots; ++tries, at = (at + 1) % slots) {
    const uint64_t there = __atomic_load_n(&places[at].handle, __ATOMIC_ACQUIRE);
    if (there == handle) return __atomic_load_n(&places[at].number, __ATOMIC_RELAXED);
    if (there == 0) return unknown;
  }
  return unknown;
}

/// With the lock. A handle that was freed may come again, and another handle may take its place.
static void set_number(uint64_t handle, int number) {
  uint64_t at = probe_mixed(handle) % slots;
  unsigned place = slots;
  for (unsigned tries = 0; tries < slots; ++tries, at = (at + 1) % slots) {
    const uint64_t there = places[at].handle;
    if (place == slots && (there == 0 || places[at].number == unknown)) place = (unsigned)at;
    if (there == handle) place = (unsigned)at;
    if (there == handle || there == 0) break;
  }
  if (place == slots) return;
  __atomic_store_n(&places[place].number, number, __ATOMIC_RELAXED);
  __atomic_store_n(&places[place].handle, handle, __ATOMIC_RELEASE);
}

void probe_gone(uint64_t handle) {
  if (probe_profile == NULL) return;
  probe_lock();
  if (number_of(handle) != unknown) set_number(handle, unknown);
  probe_unlock();
}

/// With the lock.
static int add_name(const char* origin, int rank, int size) {
  const int number = (int)probe_profile->header.communicators;
  if (number < probe_no_communicator) {
    struct probe_communicator* c = &probe_profile->communicators[number];
    c->rank = rank;
    c->size = size;
    c->first = -1;
    others[number] = (uint64_t)size;
    snprintf(c->origin, sizeof c->origin, "%s", origin);
    probe_profile->header.communicators = (uint32_t)number + 1;
    return number;
  }
  return probe_further_communicators;
}

/// With the lock.
static int add(uint64_t handle, const char* origin, int rank, int size) {
  const int number = add_name(origin, rank, size);
  set_number(handle, number);
  return number;
}

struct group {
  int rank, size, remote;  // 0: it is no intercommunicator
};

/// Every call on a communicator without a number of its own needs its group, so these are looked up once.
static __typeof(&MPI_Comm_size) size_of, remote_size_of;
static __typeof(&MPI_Comm_rank) rank_in;
static __typeof(&MPI_Comm_test_inter) test_inter;

static void find_functions(void) {
  size_of = REAL(MPI_Comm_size);
  remote_size_of = REAL(MPI_Comm_remote_size);
  rank_in = REAL(MPI_Comm_rank);
  test_inter = REAL(MPI_Comm_test_inter);
}

static struct group group_of(MPI_Comm communicator) {
  struct group group = {0, 0, 0};
  int inter = 0;
  size_of(communicator, &group.size);
  rank_in(communicator, &group.rank);
  test_inter(communicator, &inter);
  if (inter) remote_size_of(communicator, &group.remote);
  return group;
}

/// With the lock.
static int add_communicator(MPI_Comm made, const char* origin) {
  const struct group group = group_of(made);
  const int number = add(PROBE_HANDLE(made), origin, group.rank, group.size);
  if (group.remote != 0 && number != probe_further_communicators) {
    others[number] = (uint64_t)group.remote;
    probe_profile->communicators[number].remote = group.remote;
  } else if (number != probe_further_communicators) {
    probe_profile->communicators[number].first = probe_first_of(made);
  }
  return number;
}

/// communicator: null for handles of windows and files, which cannot be asked.
static unsigned number(uint64_t handle, const MPI_Comm* communicator) {
  static __thread uint64_t last_handle;
  static __thread int last_number;
  if (probe_profile == NULL) return 0;
  const uint64_t home = probe_mixed(handle) % slots;
  if (handle == last_handle && __atomic_load_n(&places[home].handle, __ATOMIC_RELAXED) == handle &&
      places[home].number == last_number)
    return (unsigned)last_number;
  int found = number_of(handle);
  if (found == unknown) {
    if (communicator != NULL && *communicator == no_communicator) return probe_no_communicator;
    probe_lock();
    found = number_of(handle);
    if (found == unknown) {
      char origin[probe_origin_bytes];
      probe_name_stranger(origin);
      found = communicator != NULL ? add_communicator(*communicator, origin) : add(handle, origin, 0, 0);
    }
    probe_unlock();
  }
  last_handle = handle;
  last_number = found;
  return (unsigned)found;
}

/// The group of the communicator of the last call, if that has no number of its own.
static __thread struct group further;

unsigned probe_communicator(MPI_Comm communicator) {
  const unsigned found = number(PROBE_HANDLE(communicator), &communicator);
  if (found == probe_further_communicators) further = group_of(communicator);
  return found;
}
unsigned probe_window(MPI_Win window) { return number(PROBE_HANDLE(window), NULL); }
unsigned probe_file(MPI_File file) { return number(PROBE_HANDLE(file), NULL); }

void probe_created(unsigned parent, MPI_Comm made, const char* how, int colour) {
  if (probe_profile == NULL) return;
  char origin[probe_origin_bytes], suffix[32] = "";
  if (colour >= 0) snprintf(suffix, sizeof suffix, " colour %d", colour);
  probe_lock();
  probe_name_child(origin, parent, how, suffix);
  if (made != no_communicator) add_communicator(made, origin);
  probe_unlock();
}

void probe_created_group(unsigned parent, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm made) {
  if (probe_profile == NULL || made == no_communicator) return;
  char origin[probe_origin_bytes];
  probe_lock();
  probe_name_group(origin, parent, comm, group, tag);
  add_communicator(made, origin);
  probe_unlock();
}

void probe_created_of_group(MPI_Comm made, const char* how, const char* tag, MPI_Group group, const MPI_Group* remote) {
  if (probe_profile == NULL || made == no_communicator) return;
  char origin[probe_origin_bytes];
  probe_lock();
  probe_name_of_group(origin, how, tag, group, remote);
  add_communicator(made, origin);
  probe_unlock();
}

void probe_created_between(unsigned parent, MPI_Comm made) {
  if (probe_profile == NULL || made == no_communicator) return;
  char origin[probe_origin_bytes];
  probe_lock();
  probe_name_between(origin, parent, made);
  add_communicator(made, origin);
  probe_unlock();
}

void probe_found_parent(MPI_Comm parent) {
  if (probe_profile == NULL || parent == no_communicator) return;
  probe_lock();
  if (number_of(PROBE_HANDLE(parent)) == unknown) add_communicator(parent, "parent");
  probe_unlock();
}

/// Adds a child with the ranks of its parent.
static void add_child(unsigned parent, uint64_t handle, const char* origin) {
  const struct probe_communicator* c = &probe_profile->communicators[parent];
  const int number = add(handle, origin, c->rank, c->size);
  if (number == probe_further_communicators) return;
  others[number] = others[parent];
  probe_profile->communicators[number].remote = c->remote;
  probe_profile->communicators[number].first = c->first;
}

void probe_duplicated(unsigned parent, MPI_Comm made) {
  if (probe_profile == NULL) return;
  char origin[probe_origin_bytes];
  probe_lock();
  probe_name_child(origin, parent, "idup", "");
  add_child(parent, PROBE_HANDLE(made), origin);
  probe_unlock();
}

void probe_made_window(unsigned parent, MPI_Win made) {
  if (probe_profile == NULL) return;
  char origin[probe_origin_bytes];
  probe_lock();
  probe_name_child(origin, parent, "window", "");
  add_child(parent, PROBE_HANDLE(made), origin);
  probe_unlock();
}

/// The hints of this file, which may be new; null if there is no room.
static struct probe_hints* hints_of(uint32_t file) {
  struct probe_header* const h = &probe_profile->header;
  for (uint32_t k = 0; k < h->hints; ++k)
    if (probe_profile->hints[k].file == file) return &probe_profile->hints[k];
  if (h->hints >= probe_most_hints) return NULL;
  probe_profile->hints[h->hints].file = file;
  return &probe_profile->hints[h->hints++];
}

static int has_hint(const char* text, const char* hint) {
  const size_t length = strlen(hint);
  for (const char* at = text; (at = strstr(at, hint)) != NULL; ++at)
    if ((at == text || at[-1] == ' ') && (at[length] == 0 || at[length] == ';')) return 1;
  return 0;
}

/// Adds "key=value; key=value" to the hints that the program gave before.
static void write_hints(uint32_t file, MPI_Info info) {
  int keys = 0;
  if (info == no_info || REAL(MPI_Info_get_nkeys)(info, &keys) != MPI_SUCCESS || keys == 0) return;
  struct probe_hints* const hints = hints_of(file);
  for (int k = 0; k < keys && hints != NULL; ++k) {
    char key[MPI_MAX_INFO_KEY + 1], value[128] = "", hint[sizeof hints->text];
    int there = 0;
    REAL(MPI_Info_get_nthkey)(info, k, key);
    REAL(MPI_Info_get)(info, key, (int)sizeof value - 1, value, &there);
    snprintf(hint, sizeof hint, "%s=%s", key, value);
    const size_t used = strlen(hints->text);
    if (!has_hint(hints->text, hint))
      snprintf(hints->text + used, sizeof hints->text - used, "%s%s", used > 0 ? "; " : "", hint);
  }
}

void probe_hinted(unsigned file, MPI_Info info) {
  if (probe_profile == NULL || info == no_info || file >= probe_no_communicator) return;
  probe_lock();
  write_hints(file, info);
  probe_unlock();
}

void probe_opened(unsigned parent, MPI_File made, const char* name, MPI_Info info) {
  if (probe_profile == NULL) return;
  char origin[probe_origin_bytes];
  probe_lock();
  probe_name_file(origin, parent, name);
  const int former = probe_named(origin);
  if (former >= 0) {  // opened again
    set_number(PROBE_HANDLE(made), former);
  } else {
    add_child(parent, PROBE_HANDLE(made), origin);
  }
  if (number_of(PROBE_HANDLE(made)) != probe_further_communicators)
    write_hints((uint32_t)number_of(PROBE_HANDLE(made)), info);
  probe_unlock();
}

int probe_group_rank(unsigned communicator) {
  if (communicator == probe_further_communicators) return further.rank;
  return probe_profile == NULL ? 0 : probe_profile->communicators[communicator].rank;
}

struct probe_ranks probe_group(unsigned communicator) {
  if (communicator == probe_further_communicators)
    return (struct probe_ranks){(uint64_t)(further.remote != 0 ? further.remote : further.size), 0};
  return (struct probe_ranks){probe_profile == NULL ? 0 : others[communicator], 0};
}

struct probe_ranks probe_local_group(unsigned communicator) {
  if (communicator == probe_further_communicators) return (struct probe_ranks){(uint64_t)further.size, 0};
  return (struct probe_ranks){probe_profile == NULL ? 0 : (uint64_t)probe_profile->communicators[communicator].size, 0};
}

/// A rank at the edge of a grid has neighbours that do not exist.
static struct probe_ranks neighbours_in_grid(MPI_Comm communicator) {
  struct probe_ranks ranks = {0, 0};
  int dimensions = 0;
  REAL(MPI_Cartdim_get)(communicator, &dimensions);
  for (int k = 0; k < dimensions; ++k) {
    int sides[2] = {0, 0};
    REAL(MPI_Cart_shift)(communicator, k, 1, &sides[0], &sides[1]);
    for (int side = 0; side < 2; ++side, ++ranks.count) {
      if (sides[side] == MPI_PROC_NULL && ranks.count < 64) ranks.absent |= UINT64_C(1) << ranks.count;
    }
  }
  return ranks;
}

static struct probe_ranks find_neighbours(MPI_Comm communicator, int rank) {
  int kind = MPI_UNDEFINED, out = 0, in = 0, weighted = 0;
  REAL(MPI_Topo_test)(communicator, &kind);
  if (kind == MPI_CART) return neighbours_in_grid(communicator);
  if (kind == MPI_GRAPH) REAL(MPI_Graph_neighbors_count)(communicator, rank, &out);
  if (kind == MPI_DIST_GRAPH) REAL(MPI_Dist_graph_neighbors_count)(communicator, &in, &out, &weighted);
  return (struct probe_ranks){(uint64_t)out, 0};
}

uint64_t probe_source_count(MPI_Comm communicator) {
  int kind = MPI_UNDEFINED, rank = 0, out = 0, in = 0, weighted = 0;
  REAL(MPI_Topo_test)(communicator, &kind);
  if (kind == MPI_CART) return neighbours_in_grid(communicator).count;
  REAL(MPI_Comm_rank)(communicator, &rank);
  if (kind == MPI_GRAPH) REAL(MPI_Graph_neighbors_count)(communicator, rank, &in);
  if (kind == MPI_DIST_GRAPH) REAL(MPI_Dist_graph_neighbors_count)(communicator, &in, &out, &weighted);
  return (uint64_t)in;
}

struct probe_ranks probe_neighbours(unsigned number, MPI_Comm communicator) {
  if (probe_profile == NULL) return (struct probe_ranks){0, 0};
  if (__atomic_load_n(&neighbours_known[number], __ATOMIC_ACQUIRE)) return neighbours[number];
  const struct probe_ranks found = find_neighbours(communicator, probe_group_rank(number));
  if (number == probe_further_communicators) return found;
  neighbours[number] = found;
  __atomic_store_n(&neighbours_known[number], 1, __ATOMIC_RELEASE);
  return found;
}

MPI_Comm probe_world_communicator(void) { return PROBE_OBJECT("ompi_mpi_comm_world", MPI_COMM_WORLD); }
static MPI_Comm self(void) { return PROBE_OBJECT("ompi_mpi_comm_self", MPI_COMM_SELF); }

void probe_found_world(void) {
  probe_lock();
  set_number(PROBE_HANDLE(probe_world_communicator()), 0);
  set_number(PROBE_HANDLE(self()), 1);
  probe_unlock();
}

void probe_begin_communicators(const struct probe_world* of_session) {
  no_communicator = PROBE_OBJECT("ompi_mpi_comm_null", MPI_COMM_NULL);
  no_info = PROBE_OBJECT("ompi_mpi_info_null", MPI_INFO_NULL);
  find_functions();
  probe_lock();
  if (of_session == NULL) {
    add_communicator(probe_world_communicator(), "world");
    add_communicator(self(), "self");
  } else {
    add_name("world", of_session->rank, of_session->size);
    add_name("self", 0, 1);
  }
  struct probe_communicator* const known = probe_profile->communicators;
  known[0].first = 0;
  known[1].first = known[0].rank;
  snprintf(probe_profile->communicators[probe_further_communicators].origin, probe_origin_bytes,
           "further communicators");
  probe_unlock();
}
