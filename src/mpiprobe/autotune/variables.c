// Chooses algorithms by variables. An MPI reads them at each call, or when it makes a communicator.
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/tune.h"
#include "mpiprobe/autotune/values.h"

const char* tune_off = "MPI was not initialised";
const struct tune_mpi* tune_mpi;

struct variable {
  struct tune_value place;
  int known, value;
};
static struct variable first[tune_collectives], second[tune_collectives];

static uint32_t left_out[tune_collectives];  // a bit for each algorithm that the user leaves out

/// Whether another component of Open MPI handles calls on several nodes before the one with the choice. It makes its
/// own communicators in such a call.
static int has_component_before;

/// The version in the MPI's text begins with its first digit: "Open MPI v4.1.4, …", "MPICH Version: 4.0.2 …".
static const struct tune_mpi* mpi_of(const char* library_version) {
#if defined(OPEN_MPI)
  static const char name[] = "Open MPI v";
#else
  static const char name[] = "MPICH Version:";  // others, such as MVAPICH, may use other numbers for algorithms
#endif
  if (strncmp(library_version, name, sizeof name - 1) != 0) return NULL;
  const char* at = strpbrk(library_version, "0123456789");
  for (unsigned k = 0; at != NULL && k < tune_mpi_count; ++k) {
    const size_t length = strlen(tune_mpis[k].version);
    if (strncmp(at, tune_mpis[k].version, length) == 0 && !isdigit((unsigned char)at[length])) return &tune_mpis[k];
  }
  return NULL;
}

static struct variable variable_named(const char* name) {
  struct variable found = {.place = tune_find_value(name)};
  found.known = found.place.known && tune_read(&found.place, &found.value) && tune_write(&found.place, found.value);
  return found;
}

/// If an algorithm cannot run, MPICH then silently uses another one. The program never asked for this algorithm, so it
/// must not get an error.
static void allow_fallback(void) {
#if !defined(OPEN_MPI)
  enum { silent = 2 };
  const struct variable fallback = variable_named("MPIR_CVAR_COLLECTIVE_FALLBACK");
  if (fallback.known) tune_write(&fallback.place, silent);
#endif
}

/// Whether the user has a file of rules. Rules have priority over the variables.
static int has_rules(void) {
#if defined(OPEN_MPI)
  return tune_has_text("coll_tuned_dynamic_rules_filename");
#else
  return 0;
#endif
}

/// INT_MIN if there is no such variable.
static int value_of(const char* name) {
  const struct tune_value variable = tune_find_value(name);
  int value = INT_MIN;
  return tune_read(&variable, &value) ? value : INT_MIN;
}

static int has_before_tuned(void) {
  static const char* const names[] = {"coll_han_priority", "coll_acoll_priority", "coll_xhc_priority"};
  const int tuned = value_of("coll_tuned_priority");
  int has = 0;
  for (unsigned k = 0; k < sizeof names / sizeof *names; ++k) has |= value_of(names[k]) > tuned;
  return has;
}

static int is_listed(const char* list, const char* collective, const char* algorithm) {
  char word[128];
  snprintf(word, sizeof word, "%s/%s", collective, algorithm);
  const size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at += length) {
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return 1;
  }
  return 0;
}

/// CULMEN_TUNING_WITHOUT is for `culmen tune cluster`, whose rules cannot hold all algorithms.
static void leave_out_listed(void) {
  for (unsigned what = 0; what < tune_collectives; ++what) {
    const struct tune_collective* const c = tune_mpi->of[what];
    for (unsigned k = 0; c != NULL && k < c->count && k < tune_most_algorithms; ++k)
      left_out[what] |= (uint32_t)is_listed(tune_settings.without, c->name, c->names[k]) << k;
  }
}

void tune_begin_variables(const char* library_version, int level) {
  tune_mpi = mpi_of(library_version);
  if (tune_mpi == NULL) tune_off = "culmen does not know the algorithms of this version of the MPI";
  else if (!tune_begin_values(level)) tune_off = "MPI_T does not work";
  else if (has_rules())
    tune_off = "Open MPI takes the algorithms from a file (coll_tuned_dynamic_rules_filename); leave it out";
  if (tune_off != NULL) return;
  if (!tune_settings.refuses) allow_fallback();
  leave_out_listed();
  for (unsigned what = 0; what < tune_collectives; ++what) {
    const struct tune_collective* const c = tune_mpi->of[what];
    if (c == NULL) continue;
    first[what] = variable_named(c->variable);
    second[what] = variable_named(c->second);
    // If the user has chosen an algorithm, it stays.
    if (first[what].value != 0) first[what].known = 0;
  }
  has_component_before = tune_mpi->kept && has_before_tuned();
}

void tune_agree_on_variables(MPI_Comm world) {
  int known[2 * tune_collectives], common[2 * tune_collectives];
  for (unsigned k = 0; k < tune_collectives; ++k) known[2 * k] = first[k].known, known[2 * k + 1] = second[k].known;
  REAL(MPI_Allreduce)
  (known, common, 2 * tune_collectives, PROBE_OBJECT("ompi_mpi_int", MPI_INT), PROBE_OBJECT("ompi_mpi_op_min", MPI_MIN),
   world);
  for (unsigned k = 0; k < tune_collectives; ++k) first[k].known = common[2 * k], second[k].known = common[2 * k + 1];
}

int tune_has_component_before(void) { return has_component_before; }

int tune_is_possible(enum tune_what what, unsigned algorithm, int ranks) {
  const struct tune_collective* const c = tune_mpi->of[what];
  if (algorithm == 0) return 1;
  if (c == NULL || !first[what].known || algorithm > c->count || algorithm >= tune_most_algorithms) return 0;
  const uint32_t bit = UINT32_C(1) << (algorithm - 1);
  if ((c->unsafe | left_out[what]) & bit || (c->splits_counts & bit && !tune_settings.same_types)) return 0;
  if (c->two_ranks_only & bit) return ranks == 2;
  return !(c->powers_of_two_only & bit) || (ranks & (ranks - 1)) == 0;
}

int tune_is_tunable(enum tune_what what) { return tune_mpi->of[what] != NULL && first[what].place.known; }

int tune_has_choices(enum tune_what what) { return tune_mpi->of[what] != NULL && first[what].known; }

int tune_has_nonblocking(void) {
  int has = 0;
  if (tune_settings.several_threads) return 0;
  for (unsigned what = tune_blocking; what < tune_collectives; ++what)
    has |= first[what].known && (tune_settings.collectives >> what & 1);
  return has;
}

static void write_choice(unsigned what, unsigned algorithm) {
  const struct tune_collective* const c = tune_mpi->of[what];
  if (!first[what].known) return;
  tune_write(&first[what].place, (int)algorithm);
  if (second[what].known) tune_write(&second[what].place, algorithm != 0 ? c->second_forced : second[what].value);
}

void tune_set(enum tune_what what, unsigned algorithm) { write_choice(what, algorithm); }

/// Replaces a shadow by a copy whose calls go to the component with the choice. A copy of the program's communicator
/// would call the program's functions for attributes.
static int prefer_tuned(MPI_Comm* made) {
  MPI_Info info;
  MPI_Comm copy = *made;
  REAL(MPI_Info_create)(&info);
  REAL(MPI_Info_set)(info, "ompi_comm_coll_preference", "tuned,^han");
  const int error = REAL(MPI_Comm_dup_with_info)(*made, info, &copy);
  REAL(MPI_Info_free)(&info);
  if (error != MPI_SUCCESS) return error;
  REAL(MPI_Comm_free)(made);
  *made = copy;
  return MPI_SUCCESS;
}

/// Makes a communicator in which each collective uses its algorithm of this number, if it has one.
static MPI_Comm made_shadow(const struct tune_state* state, unsigned algorithm) {
  for (unsigned what = 0; what < tune_blocking; ++what) {
    if (tune_is_possible(what, algorithm, state->size)) write_choice(what, algorithm);
  }
  MPI_Comm made = state->comm;
  MPI_Group group;
  const int keeps_errors = tune_keeps_errors(state);
  REAL(MPI_Comm_group)(state->comm, &group);
  int error = REAL(MPI_Comm_create)(state->comm, group, &made);
  if (error == MPI_SUCCESS && has_component_before) error = prefer_tuned(&made);
  REAL(MPI_Group_free)(&group);
  for (unsigned what = 0; what < tune_blocking; ++what) {
    if (tune_is_possible(what, algorithm, state->size)) write_choice(what, 0);
  }
  if (keeps_errors) tune_tell_error(state, 1, MPI_SUCCESS);  // it is none of the program's errors
  if (error != MPI_SUCCESS) return state->comm;
  tune_give_handler(state, made);
  return made;
}

MPI_Comm tune_shadow(struct tune_state* state, unsigned algorithm) {
  if (!tune_mpi->kept || algorithm == 0) return state->comm;
  MPI_Comm* const shadow = &state->agreed->shadows[algorithm];
  if (*shadow == state->comm) *shadow = tune_made_alone(state, algorithm, made_shadow);
  return *shadow;
}
