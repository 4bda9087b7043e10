// Chooses the algorithm of each cell. All ranks of a communicator make the same calls in the same order. So their
// counts are equal, and they need no message to switch at the same call.
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/race.h"

enum {
  most_again = UINT32_MAX / 8,
  most_pause = 1024,  // blocking calls
  for_ever = UINT32_MAX,
  until_next_try = 8,  // at first
  until_second_look = 50,
  longer = 4,
};

/// Times of nonblocking calls. One reduction of integers adds them up, so that all ranks have the same results.
struct sums {
  MPI_Request request;
  int64_t ns[];  // times of this rank, and whether one is missing; then the sums over all ranks
};

static size_t sums_bytes(unsigned times) { return sizeof(struct sums) + 2 * (times + 1) * sizeof(int64_t); }

int64_t tune_trial_bytes(void) {
  const size_t sums = tune_settings.one_request ? sums_bytes(tune_most_times()) : 0;
  return (int64_t)(sizeof(struct tune_trial) + tune_most_times() * sizeof(double) + sums);
}

static int is_reduction(enum tune_what what) {
  const unsigned like = what < tune_blocking ? what : what - tune_blocking;
  return like == tune_reduce || like == tune_allreduce || like == tune_reduce_scatter ||
         like == tune_reduce_scatter_block || like == tune_scan || like == tune_exscan;
}

int tune_leaves(MPI_Op op) {
  static int (*ask)(MPI_Op, int*);
  static MPI_Op none;
  int commutes = 1;
  if (tune_settings.reproducible) return 1;
  if (__atomic_load_n(&ask, __ATOMIC_ACQUIRE) == NULL) {
    none = PROBE_OBJECT("ompi_mpi_op_null", MPI_OP_NULL);
    __atomic_store_n(&ask, REAL(MPI_Op_commutative), __ATOMIC_RELEASE);
  }
  if (op == none) return 1;  // an error here would end the program, which may handle its own errors
  ask(op, &commutes);
  return !commutes;
}

static int is_full(const struct tune_trial* trial) { return trial->calls == tune_calls_in(trial); }

static void finish(struct sums* sums) { REAL(MPI_Wait)(&sums->request, MPI_STATUS_IGNORE); }

static void wait_with(struct tune_cell* cell, uint32_t calls) { cell->left = cell->again = calls; }

static void end_trial(struct tune_state* state, struct tune_cell* cell) {
  free(cell->trial);
  cell->trial = NULL;
  --state->trials;
}

static int begin_trial(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_trial* const trial = calloc(1, sizeof *trial + tune_most_times() * sizeof(double));
  if (trial == NULL) abort();  // the other ranks expect the same of this one
  ++state->trials;
  cell->trial = trial;
  state->waiting -= tune_window_is_full(&cell->watch);
  cell->watch.calls = 0;
  tune_forget_samples(NULL, cell);
  if (cell->state != tune_unknown) {
    const unsigned first = cell->algorithm != 0 ? cell->algorithm : cell->runner_up;
    tune_begin_look(trial, first, first == cell->algorithm ? cell->runner_up : cell->third);
  } else {
    uint32_t possible = 0;
    for (unsigned k = 1; k < tune_most_algorithms; ++k)
      possible |= (uint32_t)tune_is_possible(what, k, state->size) << k;
    tune_begin_race(trial, possible);
  }
  return trial->count > 1;
}

/// The communicator for a call with this algorithm. Nonblocking calls keep theirs, because the MPI reads the choice at
/// each call.
static MPI_Comm place_of(struct tune_state* state, enum tune_what what, unsigned algorithm) {
  return what < tune_blocking ? tune_shadow(state, algorithm) : state->comm;
}

/// Whether the shadow could not be made now, so that the call would run the MPI's own choice. All ranks have the same
/// answer.
static int lacks_place(const struct tune_state* state, enum tune_what what, unsigned algorithm, MPI_Comm place) {
  return !tune_sets && what < tune_blocking && algorithm != 0 && place == state->comm;
}

/// The pause becomes longer, because a shadow that was not made may never be made, and each try costs a message.
static uint32_t longer_pause(uint32_t before) {
  return before < until_next_try ? until_next_try : before > most_again / 2 ? most_again : 2 * before;
}

/// A call with the present choice. pause: number of calls until the next look at the cell.
static struct tune_call stay(struct tune_cell* cell, uint32_t pause) {
  cell->counted += cell->again;
  wait_with(cell, pause);
  --cell->left;
  return (struct tune_call){cell->comm, cell->algorithm, 0, 0};
}

/// Takes the next ones of the calls before a comparison.
static uint32_t next_stride(struct tune_cell* cell) {
  const uint32_t calls = cell->rest < tune_stride ? cell->rest : tune_stride;
  cell->rest -= calls;
  return calls;
}

/// A call with the present choice that is timed, unless the last window waits for other ranks.
static struct tune_call watched(struct tune_cell* cell) {
  struct tune_call call = stay(cell, next_stride(cell));
  call.begin_ns = !tune_window_is_full(&cell->watch);
  cell->watch.calls += (uint8_t)call.begin_ns;
  return call;
}

struct tune_call tune_next_call(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  if (cell->state == tune_explored && cell->again == for_ever) cell->state = tune_loaded;  // it stays for ever
  if (cell->state == tune_loaded) cell->comm = place_of(state, what, cell->algorithm);
  if (cell->state == tune_explored && cell->rest > 0) return watched(cell);
  if (cell->state == tune_unknown || cell->state == tune_explored) {
    // All ranks have the same comparisons, so they all reach this limit at the same call.
    if (cell->trial == NULL && state->trials == tune_most_trials) return stay(cell, cell->again > 0 ? cell->again : 1);
    if (cell->trial != NULL || begin_trial(state, what, cell)) {
      const unsigned algorithm = cell->trial->candidates[tune_candidate_now(cell->trial)];
      const MPI_Comm place = place_of(state, what, algorithm);
      if (lacks_place(state, what, algorithm, place)) return stay(cell, longer_pause(cell->again));
      return (struct tune_call){place, algorithm, 1, 0};
    }
    end_trial(state, cell);  // there is nothing to choose
    cell->state = tune_left_alone;
  }
  const int lacks = lacks_place(state, what, cell->algorithm, cell->comm);
  return stay(cell, lacks ? longer_pause(cell->again) : for_ever);
}

/// Takes the means over all ranks. Collective.
static void take_means(const struct tune_state* state, struct tune_trial* trial) {
  double mine[tune_most_algorithms * tune_most_rounds];
  const int times = (int)tune_times_in(trial);
  for (int k = 0; k < times; ++k) mine[k] = trial->ns[k] / state->size;
  REAL(MPI_Allreduce)
  (mine, trial->ns, times, PROBE_OBJECT("ompi_mpi_double", MPI_DOUBLE), PROBE_OBJECT("ompi_mpi_op_sum", MPI_SUM),
   state->comm);
  // Every rank must decide from the same values, to the last digit.
  REAL(MPI_Bcast)(trial->ns, times, PROBE_OBJECT("ompi_mpi_double", MPI_DOUBLE), 0, state->comm);
}

/// The number of calls until algorithms are compared again. A reduction has a second look only if it keeps the MPI's
/// own choice, because another algorithm would add in another order.
static uint32_t until_look(const struct tune_cell* cell, enum tune_what what) {
  const uint64_t usual = tune_settings.again, later = (uint64_t)longer * cell->wait;
  const int is_first = cell->trial->phase != tune_looked_again, is_default = cell->algorithm == 0;
  if (usual == 0 || (is_reduction(what) && !(is_first && is_default))) return for_ever;
  if (is_first && is_default) return usual < until_second_look ? (uint32_t)usual : until_second_look;
  const uint64_t next = is_first || later < usual ? usual : later;
  return next > most_again ? most_again : (uint32_t)next;
}

/// Waits for the next comparison.
static void wait_for_look(struct tune_cell* cell, uint32_t calls) {
  cell->wait = calls;
  cell->rest = calls == for_ever ? 0 : calls;
  wait_with(cell, calls == for_ever ? for_ever : next_stride(cell));
}

static void commit(struct tune_state* state, enum tune_what what, struct tune_cell* cell, unsigned algorithm) {
  tune_begin_watch(&cell->watch, algorithm != cell->algorithm);
  cell->algorithm = (uint16_t)algorithm;
  cell->comm = place_of(state, what, cell->algorithm);
  cell->counted += cell->again;
  cell->state = tune_explored;
  wait_for_look(cell, until_look(cell, what));
  if (lacks_place(state, what, cell->algorithm, cell->comm)) {  // it tries again, without another comparison
    cell->state = tune_loaded;
    wait_with(cell, until_next_try);
  }
  end_trial(state, cell);
}

/// Keeps the best candidates for the next look.
static void remember(struct tune_cell* cell, unsigned first, unsigned second) {
  const struct tune_trial* const trial = cell->trial;
  if (trial->phase == tune_confirmed) return;
  cell->runner_up = trial->candidates[first];
  if (second != 0) cell->third = trial->candidates[second];
}

/// Decides from the means.
static void judge(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_trial* const trial = cell->trial;
  const unsigned first = tune_fastest(trial, 0), second = tune_fastest(trial, first);
  const unsigned best = trial->candidates[first];
  const int is_race = trial->phase == tune_raced;
  remember(cell, first, second);
  if (is_race && tune_begin_confirmation(trial, first)) return;
  const int is_better = tune_gains(trial, first);
  cell->default_ns = tune_median(trial, 0);
  cell->chosen_ns = tune_median(trial, is_better ? first : 0);
  if (is_better) cell->runner_up = cell->third;
  commit(state, what, cell, is_better ? best : 0);
}

static void decide(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  take_means(state, cell->trial);
  judge(state, what, cell);
}

/// Begins a comparison in the next call. The time between two comparisons stays.
static void look_now(struct tune_cell* cell) {
  cell->counted += cell->again - cell->left;
  cell->wait /= longer;
  cell->rest = 0;
  wait_with(cell, 0);
}

/// Begins a comparison if the durations of a window have drifted. Collective. Sums of integers are the same on all
/// ranks.
static void look_for_drift(const struct tune_state* state, struct tune_cell* cell) {
  const int64_t ns = tune_duration(&cell->watch), mine[2] = {ns, ns < 0};
  int64_t all[2] = {0, 0};
  REAL(MPI_Allreduce)
  (mine, all, 2, PROBE_OBJECT("ompi_mpi_int64_t", MPI_INT64_T), PROBE_OBJECT("ompi_mpi_op_sum", MPI_SUM), state->comm);
  const double mean = all[1] == 0 ? (double)all[0] / state->size : -1;
  if (tune_has_drifted(&cell->watch, (float)mean)) look_now(cell);
}

void tune_note(struct tune_state* state, enum tune_what what, struct tune_cell* cell, uint64_t ns) {
  struct tune_trial* const trial = cell->trial;
  if (trial == NULL) {
    tune_watch(&cell->watch, ns);
    if (tune_window_is_full(&cell->watch)) look_for_drift(state, cell);
    return;
  }
  const int place = tune_place_now(trial);
  if (place >= 0) trial->ns[place] = (double)ns;
  ++cell->counted;
  ++trial->calls;
  if (is_full(trial)) decide(state, what, cell);
}

/// For this rank: 0 if all times are known, 1 if one is not known yet, 2 if one will never be known.
static int is_missing(const struct tune_trial* trial) {
  if (trial->is_lost) return 2;
  for (unsigned k = 0; k < tune_times_in(trial); ++k) {
    if (trial->ns[k] < 0) return 1;
  }
  return 0;
}

/// Ends the comparison. The choice, or the MPI's own one, stays for ever.
static void give_up(struct tune_state* state, struct tune_cell* cell) {
  tune_forget_samples(NULL, cell);
  cell->counted += cell->again;
  if (cell->state == tune_unknown) cell->state = tune_left_alone;
  wait_with(cell, for_ever);
  free(cell->trial->sums);
  end_trial(state, cell);
}

/// Whether the cell is decided now. Collective.
static int is_settled(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  const int mine = is_missing(cell->trial);
  int worst = 0;
  REAL(MPI_Allreduce)
  (&mine, &worst, 1, PROBE_OBJECT("ompi_mpi_int", MPI_INT), PROBE_OBJECT("ompi_mpi_op_max", MPI_MAX), state->comm);
  if (worst == 1) return 0;
  if (worst == 0) decide(state, what, cell);
  else give_up(state, cell);
  return 1;
}

/// Whether the cell no longer waits for other ranks. Collective.
static int is_done(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  if (cell->trial == NULL && tune_window_is_full(&cell->watch)) {
    look_for_drift(state, cell);
    return 1;
  }
  const int waits = cell->trial != NULL && is_full(cell->trial) && !tune_settings.one_request;
  return waits && is_settled(state, what, cell);
}

void tune_settle(struct tune_state* state) {
  if (state->pause != 0) {
    --state->pause;
    return;
  }
  for (unsigned k = tune_blocking * tune_classes; k < tune_collectives * tune_classes; ++k) {
    const enum tune_what what = k / tune_classes;
    struct tune_cell* const cell = state->cells[what] != NULL ? &state->cells[what][k % tune_classes] : NULL;
    if (cell != NULL) state->waiting -= is_done(state, what, cell);
  }
  // With pauses, blocking calls stay fast even if requests are under way at each of them.
  const unsigned next = state->next_pause == 0 ? 1 : 2 * state->next_pause;
  state->next_pause = state->pause = state->waiting == 0 ? 0 : next < most_pause ? next : most_pause;
}

static void begin_sums(struct tune_state* state, struct tune_trial* trial) {
  const unsigned times = tune_times_in(trial);
  struct sums* const sums = trial->sums = calloc(1, sums_bytes(times));
  if (sums == NULL) abort();  // the other ranks expect the same of this one
  for (unsigned k = 0; k < times; ++k) sums->ns[k] = (int64_t)trial->ns[k];
  sums->ns[times] = is_missing(trial) != 0;
  REAL(MPI_Iallreduce)
  (sums->ns, sums->ns + times + 1, (int)times + 1, PROBE_OBJECT("ompi_mpi_int64_t", MPI_INT64_T),
   PROBE_OBJECT("ompi_mpi_op_sum", MPI_SUM), state->comm, &sums->request);
}

/// Decides from the sums. The program has promised that the previous call is complete, so all ranks have begun their
/// sums.
static void end_sums(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_trial* const trial = cell->trial;
  struct sums* const sums = trial->sums;
  finish(sums);
  trial->sums = NULL;
  const unsigned times = tune_times_in(trial);
  const int64_t* const all = sums->ns + times + 1;
  for (unsigned k = 0; k < times; ++k) trial->ns[k] = (double)all[k] / state->size;
  if (all[times] != 0) give_up(state, cell);
  else judge(state, what, cell);
  free(sums);
}

void tune_finish_sums(struct tune_state* state) {
  for (unsigned k = tune_blocking * tune_classes; k < tune_collectives * tune_classes; ++k) {
    struct tune_cell* const cells = state->cells[k / tune_classes];
    struct tune_trial* const trial = cells != NULL ? cells[k % tune_classes].trial : NULL;
    if (trial == NULL || trial->sums == NULL) continue;
    struct sums* const sums = trial->sums;
    trial->sums = NULL;  // MPICH may end the communicator in the wait, and this state with it
    finish(sums);
    free(sums);
  }
}

unsigned tune_next_nonblocking(struct tune_state* state, enum tune_what what, struct tune_cell* cell,
                               struct tune_place* place) {
  *place = (struct tune_place){NULL, NULL, 0};
  if (cell->trial != NULL && is_full(cell->trial)) {
    const int has_sums = cell->trial->sums != NULL;
    if (has_sums) end_sums(state, what, cell);
    else if (tune_settings.one_request) begin_sums(state, cell->trial);
    if (!has_sums) {
      ++cell->counted;
      return 0;
    }
    if (cell->left != 0) {
      --cell->left;
      return cell->algorithm;
    }
  }
  const struct tune_call call = tune_next_call(state, what, cell);
  struct tune_trial* const trial = cell->trial;
  if (call.begin_ns == 0) return call.algorithm;
  if (trial == NULL) {
    place->is_watched = 1;
    state->waiting += tune_window_is_full(&cell->watch);
    return call.algorithm;
  }
  const int now = tune_place_now(trial);
  if (now >= 0) *place = (struct tune_place){&trial->ns[now], &trial->is_lost, 0};
  ++cell->counted;
  ++trial->calls;
  if (is_full(trial) && !tune_settings.one_request) ++state->waiting;
  return call.algorithm;
}
