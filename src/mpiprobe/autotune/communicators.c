// The communicators of the program, and their names.
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/tune.h"

enum {
  places = 256,
  shadow_bytes = 11 << 10,
  peer_bytes = 220,  // of Open MPI, for each rank with which a shadow exchanges messages
  cells_bytes = tune_classes * sizeof(struct tune_cell),  // of one collective
};

_Thread_local struct tune_state* tune_last;
struct tune_state* tune_states;
static struct tune_state* cached[places];
static struct tune_state* unused;
static int keyval;
static MPI_Comm no_communicator;
static int64_t memory;  // bytes that communicators take at most
unsigned tune_left_out;
uint64_t tune_without_choice[2];
static MPI_Datatype int64_type, byte_type;
static MPI_Op largest;

static unsigned place_of(MPI_Comm comm) { return (unsigned)(probe_mixed(PROBE_HANDLE(comm)) % places); }

static void unlink_state(struct tune_state* state) {
  struct tune_state** link = &tune_states;
  while (*link != state) link = &(*link)->next;
  *link = state->next;
}

static int forget(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  struct tune_state* const state = value;
  for (unsigned k = 1; state->agreed != NULL && k < tune_most_algorithms; ++k) {
    if (state->agreed->shadows[k] != state->comm) REAL(MPI_Comm_free)(&state->agreed->shadows[k]);
  }
  tune_finish_sums(state);
  tune_forget_samples(state, NULL);
  tune_drop_handler(state);
  probe_lock();
  if (state->rank == 0 && !state->leaves_alone) tune_keep(state, 1);
  __atomic_sub_fetch(&memory, state->bytes, __ATOMIC_RELAXED);
  unlink_state(state);
  for (unsigned k = 0; k < tune_collectives * tune_classes; ++k) {
    if (state->cells[k / tune_classes] != NULL) free(state->cells[k / tune_classes][k % tune_classes].trial);
  }
  for (unsigned what = 0; what < tune_collectives; ++what) free(state->cells[what]);
  free(state->agreed);
  memset(state, 0, sizeof *state);
  state->comm = no_communicator;
  state->next = unused;
  unused = state;
  probe_unlock();
  return MPI_SUCCESS;
}

/// Memory of states is used again only for states. Another thread may still read it, to see that this is not its state.
static struct tune_state* new_state(void) {
  probe_lock();
  struct tune_state* const state = unused != NULL ? unused : calloc(1, sizeof *state);
  if (state == unused && state != NULL) unused = state->next;
  probe_unlock();
  return state;
}

static int copy_nothing(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* is_copied) {
  (void)comm, (void)key, (void)extra, (void)value, (void)copy;
  *is_copied = 0;
  return MPI_SUCCESS;
}

void tune_begin_communicators(void) {
  no_communicator = PROBE_OBJECT("ompi_mpi_comm_null", MPI_COMM_NULL);
  int64_type = PROBE_OBJECT("ompi_mpi_int64_t", MPI_INT64_T);
  byte_type = PROBE_OBJECT("ompi_mpi_byte", MPI_BYTE);
  largest = PROBE_OBJECT("ompi_mpi_op_max", MPI_MAX);
  REAL(MPI_Comm_create_keyval)(copy_nothing, forget, &keyval, NULL);
}

/// Whether the communicator has processes outside the world of this program. These may not have the tuner.
static int reaches_out(MPI_Comm comm, int size) {
  MPI_Group group, world, common;
  int number = 0;
  REAL(MPI_Comm_group)(comm, &group);
  REAL(MPI_Comm_group)(tune_world(), &world);
  REAL(MPI_Group_intersection)(group, world, &common);
  REAL(MPI_Group_size)(common, &number);
  REAL(MPI_Group_free)(&group);
  REAL(MPI_Group_free)(&world);
  REAL(MPI_Group_free)(&common);
  return number < size;
}

static struct tune_state* made_state(MPI_Comm comm, const char* name) {
  struct tune_state* const state = new_state();
  if (state == NULL) return NULL;
  int inter = 0;
  REAL(MPI_Comm_test_inter)(comm, &inter);
  REAL(MPI_Comm_size)(comm, &state->size);
  REAL(MPI_Comm_rank)(comm, &state->rank);
  state->leaves_alone = inter || state->size < tune_settings.least_ranks || reaches_out(comm, state->size);
  snprintf(state->name, sizeof state->name, "%s", name);
  state->comm = comm;
  tune_watch_handler(state);
  probe_lock();
  state->next = tune_states;
  tune_states = state;
  probe_unlock();
  REAL(MPI_Comm_set_attr)(comm, keyval, state);
  return state;
}

/// Sets *state; null if there is none yet. Returns false if the handle is no communicator, for example an ended one.
static int look_up(MPI_Comm comm, struct tune_state** state) {
  *state = cached[place_of(comm)];
  if (*state != NULL && (*state)->comm == comm) return 1;
  void* found = NULL;
  int is_there = 0;
  const int is_silent = tune_silence();
  const int error = REAL(MPI_Comm_get_attr)(comm, keyval, &found, &is_there);
  if (is_silent) tune_end_silence();
  *state = error == MPI_SUCCESS && is_there ? found : NULL;
  return error == MPI_SUCCESS;
}

static struct tune_state* known_state(MPI_Comm comm) {
  struct tune_state* state;
  look_up(comm, &state);
  return state;
}

struct tune_state* tune_find(MPI_Comm comm) {
  if (tune_off != NULL || comm == no_communicator) return NULL;
  struct tune_state* state;
  if (!look_up(comm, &state)) return NULL;
  if (state == NULL) {
    static int making;  // two threads may be the first to use MPI_COMM_SELF
    while (__atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE)) sched_yield();
    state = known_state(comm);
    if (state == NULL) state = made_state(comm, comm == tune_world() ? "world" : "made by an unknown function");
    __atomic_store_n(&making, 0, __ATOMIC_RELEASE);
  }
  if (state == NULL) return NULL;
  if (cached[place_of(comm)] != state) cached[place_of(comm)] = state;
  tune_last = state;
  return state->leaves_alone ? NULL : state;
}

/// The number of communicators that were made from the parent in this way, including this one. The probe counts them in
/// the same way.
static unsigned made_of(struct tune_state* parent, const char* how) {
  static const char* ways[tune_ways];
  unsigned way = 0;
  probe_lock();
  while (way + 1 < tune_ways && ways[way] != NULL && strcmp(ways[way], how) != 0) ++way;
  if (ways[way] == NULL) ways[way] = how;
  const unsigned number = ++parent->children[way];
  probe_unlock();
  return number;
}

void tune_named(MPI_Comm parent, MPI_Comm made, const char* how, int colour) {
  if (tune_off != NULL) return;
  tune_find(parent);
  struct tune_state* const of = known_state(parent);
  if (of == NULL) return;
  const unsigned number = made_of(of, how);
  if (made == no_communicator) return;
  char name[2 * tune_name_bytes], suffix[32] = "";
  if (colour >= 0) snprintf(suffix, sizeof suffix, " colour %d", colour);
  snprintf(name, sizeof name, "%s/%s %u%s", of->name, how, number, suffix);
  tune_prepare(made_state(made, name));
}

/// How often a name was given that says which ranks have the communicator. The probe counts them in the same way.
static unsigned given_of(const char* name) {
  enum { most = 256 };
  static struct {
    uint64_t hash;  // 0: free
    unsigned given;
  } names[most];
  uint64_t hash = 1;
  for (const char* at = name; *at != '\0'; ++at) hash = probe_mixed(hash ^ (unsigned char)*at) | 1;
  unsigned number = 1;
  probe_lock();
  for (unsigned tries = 0, at = (unsigned)(hash >> 8) % most; tries < most; ++tries, at = (at + 1) % most) {
    if (names[at].hash != 0 && names[at].hash != hash) continue;
    names[at].hash = hash;
    number = ++names[at].given;
    break;
  }
  probe_unlock();
  return number;
}

static void name_by_ranks(MPI_Comm made, const char* head, const char* tail) {
  char name[4 * tune_name_bytes];
  snprintf(name, sizeof name, "%s %s", head, tail);
  snprintf(name, sizeof name, "%s %u%s", head, given_of(name), tail);
  tune_prepare(made_state(made, name));
}

void tune_named_group(MPI_Comm parent, MPI_Comm made, MPI_Group group, int tag) {
  if (tune_off != NULL || made == no_communicator) return;
  tune_find(parent);
  const struct tune_state* const of = known_state(parent);
  if (of == NULL) return;
  char members[probe_members_bytes], head[tune_name_bytes + 16], tail[probe_members_bytes + 48], of_tag[24] = "";
  probe_write_members_of(members, group, parent);
  if (tag != 0) snprintf(of_tag, sizeof of_tag, " tag %d", tag);
  snprintf(head, sizeof head, "%s/create_group", of->name);
  snprintf(tail, sizeof tail, "%s ranks %s", of_tag, members);
  name_by_ranks(made, head, tail);
}

void tune_named_between(MPI_Comm made) {
  if (tune_off != NULL || made == no_communicator) return;
  char one[probe_members_bytes], other[probe_members_bytes], tail[2 * probe_members_bytes + 16];
  MPI_Group world, own, remote;
  REAL(MPI_Comm_group)(tune_world(), &world);
  REAL(MPI_Comm_group)(made, &own);
  REAL(MPI_Comm_remote_group)(made, &remote);
  probe_write_members(one, own, world);
  probe_write_members(other, remote, world);
  REAL(MPI_Group_free)(&remote);
  REAL(MPI_Group_free)(&own);
  REAL(MPI_Group_free)(&world);
  const int in_order = strcmp(one, other) <= 0;
  snprintf(tail, sizeof tail, " ranks %s|%s", in_order ? one : other, in_order ? other : one);
  name_by_ranks(made, "inter", tail);
}

void tune_prepare(struct tune_state* state) {
  const int is_early = tune_settings.load != NULL || tune_settings.one_request;
  if (state != NULL && !state->leaves_alone && is_early && tune_has_nonblocking()) tune_agree(state);
}

void tune_follow_errhandler(MPI_Comm comm) {
  tune_note_handler(comm);
  struct tune_state* const state = tune_off == NULL ? known_state(comm) : NULL;
  if (state == NULL) return;
  tune_watch_handler(state);
  for (unsigned k = 1; state->agreed != NULL && k < tune_most_algorithms; ++k) {
    if (state->agreed->shadows[k] != comm) tune_give_handler(state, state->agreed->shadows[k]);
  }
}

/// Whether every rank may use this much more memory. Collective.
static int has_room(const struct tune_state* state, int64_t bytes) {
  int64_t most = 0;
  const int64_t mine = __atomic_load_n(&memory, __ATOMIC_RELAXED) + bytes;
  REAL(MPI_Allreduce)(&mine, &most, 1, int64_type, largest, state->comm);
  return most <= (int64_t)tune_settings.memory;
}

static void begin_cell(const struct tune_state* state, struct tune_cell* cell, uint8_t choice) {
  cell->comm = state->comm;
  cell->state = choice == tune_open ? tune_unknown : choice == tune_pass ? tune_left_alone : tune_loaded;
  if (cell->state == tune_loaded) cell->algorithm = choice;
  else if (cell->state == tune_unknown) cell->left = cell->again = tune_settings.warm_up;
}

static int has_cells(unsigned what) {
  return tune_settings.collectives >> what & 1 && tune_mpi->of[what] != NULL && tune_has_choices(what);
}

static void note(uint64_t* of, unsigned bit, unsigned what) {
  if (!(tune_settings.collectives >> what & 1) || __atomic_load_n(of, __ATOMIC_RELAXED) >> bit & 1) return;
  __atomic_or_fetch(of, UINT64_C(1) << bit, __ATOMIC_RELAXED);
}

void tune_note_no_choice(enum tune_what what) {
  if (!tune_is_tunable(what)) note(&tune_without_choice[0], what, what);
}

void tune_note_no_choice_if_persistent(enum tune_what nonblocking) {
  if (tune_sets || !tune_is_tunable(nonblocking))
    note(&tune_without_choice[1], nonblocking - tune_blocking, nonblocking);
}

/// The largest memory that a communicator of this number of ranks needs.
static int64_t bytes_for(int ranks) {
  int64_t bytes = sizeof(struct tune_agreed) + tune_most_trials * tune_trial_bytes();
  unsigned shadows = 0;
  for (unsigned what = 0; what < tune_collectives; ++what) {
    bytes += has_cells(what) ? cells_bytes : 0;
    for (unsigned k = 1; has_cells(what) && what < tune_blocking && k < tune_most_algorithms; ++k)
      shadows |= (unsigned)tune_is_possible(what, k, ranks) << k;
  }
  const int64_t shadow = shadow_bytes + (int64_t)ranks * peer_bytes;
  return bytes + (tune_mpi->kept ? __builtin_popcount(shadows) * shadow : 0);
}

/// Leaves the communicator alone. All ranks do so at the same call.
static void leave_out(struct tune_state* state) {
  static int was_said;
  state->leaves_alone = 1;
  if (state->rank == 0) __atomic_add_fetch(&tune_left_out, 1, __ATOMIC_RELAXED);
  if (tune_settings.dump != NULL || !tune_is_first() || __atomic_exchange_n(&was_said, 1, __ATOMIC_RELAXED)) return;
  tune_say(
      "the memory of the tuner (CULMEN_TUNING_MEMORY) is used up: the communicator '%s', and perhaps further ones, "
      "keep "
      "the MPI's own choices",
      state->name);
}

/// Siblings, such as the rows of a grid, have one name. Their members tell them apart in the file.
static void write_members(MPI_Comm comm, char text[probe_members_bytes]) {
  MPI_Group own, world;
  REAL(MPI_Comm_group)(comm, &own);
  REAL(MPI_Comm_group)(tune_world(), &world);
  probe_write_members(text, own, world);
  REAL(MPI_Group_free)(&world);
  REAL(MPI_Group_free)(&own);
}

static void begin_choices(const struct tune_state* state, struct tune_agreed* agreed) {
  memset(agreed->choices, tune_pass, sizeof agreed->choices);
  if (state->rank == 0) {
    write_members(state->comm, agreed->members);
    tune_choices_for(state, agreed);
  }
  REAL(MPI_Bcast)(agreed->choices, (int)sizeof agreed->choices, byte_type, 0, state->comm);
}

int tune_agree(struct tune_state* state) {
  if (state->agreed != NULL || state->leaves_alone) return !state->leaves_alone;
  const int64_t bytes = bytes_for(state->size);
  if (!has_room(state, bytes)) {
    leave_out(state);
    return 0;
  }
  struct tune_agreed* const agreed = calloc(1, sizeof *agreed);
  if (agreed == NULL) abort();  // the other ranks expect the same of this one
  for (unsigned k = 0; k < tune_most_algorithms; ++k) agreed->shadows[k] = state->comm;
  begin_choices(state, agreed);
  state->bytes = bytes;
  __atomic_add_fetch(&memory, bytes, __ATOMIC_RELAXED);
  state->agreed = agreed;
  return 1;
}

struct tune_cell* tune_later_cells(struct tune_state* state, enum tune_what what) {
  if (!has_cells(what)) return NULL;
  struct tune_cell* const cells = calloc(tune_classes, sizeof *cells);
  if (cells == NULL) abort();  // the other ranks expect the same of this one
  for (unsigned class = 0; class < tune_classes; ++class)
    begin_cell(state, &cells[class], state->agreed->choices[what][class]);
  return state->cells[what] = cells;
}

/// Uses a blocking call that is not tuned. Ranks may wait for each other in it, to agree on nonblocking calls.
static void help_later_calls(struct tune_state* state) {
  if (state->agreed == NULL && tune_has_nonblocking()) tune_agree(state);
  if (state->waiting != 0) tune_settle(state);
}

struct tune_cell* tune_new_cells(struct tune_state* state, enum tune_what what) {
  if (has_cells(what)) return tune_agree(state) ? tune_later_cells(state, what) : NULL;
  tune_note_no_choice(what);
  help_later_calls(state);
  return NULL;
}
