// Which algorithm a cell uses. All ranks of a communicator make the same calls in the same order, so they count to the
// same numbers and need no message to switch together.
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/tune.h"

enum {
  least_for_two_phases = 6,
  confirming_rounds = 8,
  most_again = UINT32_MAX / 8,
  most_pause = 1024,  // blocking calls
  for_ever = UINT32_MAX,
  until_next_try = 8,  // at first
  longer = 4,
  most_looked_again = 3,  // candidates
};
// A gain is told from noise if it is as large as this, and if so many pairs of two calls, one with each algorithm, show
// it: with 7 calls of each, equal ones do so in 3 of 100 cases (H. B. Mann and D. R. Whitney, Ann. Math. Stat. 18
// (1947) 50).
static const double at_least = 0.95, share_of_pairs = 0.8;

enum phase { all_compared, last_compared, confirmed, looked_again };

/// Each candidate gets so many calls in a row. The first of them ends what the former candidate has begun: a rank may
/// leave a call long before others. So it does not count if there are more.
struct tune_trial {
  uint8_t candidates[tune_most_algorithms];  // the first one is the default
  unsigned count, rounds, calls;
  enum phase phase;
  uint32_t again;     // the calls before it
  int is_lost;        // a time of a nonblocking call is not known and never will be
  struct sums* sums;  // that are under way, for nonblocking calls; null: none
  double ns[];        // of a call on this rank, for each candidate and round; in the end, as the mean of the ranks
};
/// In one reduction of integers, so that all ranks have the same results.
struct sums {
  MPI_Request request;
  int64_t ns[];  // of this rank, and whether a time is missing; then of all ranks
};

static unsigned times_of(const struct tune_trial* trial) { return trial->count * trial->rounds; }

/// Of a comparison.
static unsigned most_times(void) {
  const unsigned first = tune_most_algorithms * tune_settings.rounds, last = most_looked_again * confirming_rounds;
  return first > last ? first : last;
}

static size_t sums_bytes(unsigned times) { return sizeof(struct sums) + 2 * (times + 1) * sizeof(int64_t); }

int64_t tune_trial_bytes(void) {
  const size_t sums = tune_settings.one_request ? sums_bytes(most_times()) : 0;
  return (int64_t)(sizeof(struct tune_trial) + most_times() * sizeof(double) + sums);
}

static int is_reduction(enum tune_what what) {
  const unsigned like = what < tune_blocking ? what : what - tune_blocking;
  return like == tune_reduce || like == tune_allreduce || like == tune_reduce_scatter ||
         like == tune_reduce_scatter_block || like == tune_scan || like == tune_exscan;
}

int tune_leaves(MPI_Op op) {
  static int (*ask)(MPI_Op, int*);
  int commutes = 1;
  if (tune_settings.reproducible) return 1;
  if (ask == NULL) ask = REAL(MPI_Op_commutative);
  ask(op, &commutes);
  return !commutes;
}

static int is_full(const struct tune_trial* trial) { return trial->calls == times_of(trial); }

static void finish(struct sums* sums) { REAL(MPI_Wait)(&sums->request, MPI_STATUS_IGNORE); }

static void wait_with(struct tune_cell* cell, uint32_t calls) { cell->left = cell->again = calls; }

static void add_candidate(struct tune_trial* trial, unsigned algorithm) {
  trial->candidates[trial->count++] = (uint8_t)algorithm;
}

static void begin_phase(struct tune_trial* trial, enum phase phase, unsigned rounds) {
  trial->phase = phase;
  trial->rounds = rounds;
  trial->calls = trial->count = 0;
  for (unsigned k = 0; k < most_times(); ++k) trial->ns[k] = -1;
  add_candidate(trial, 0);
}

static void begin_with_all(const struct tune_state* state, enum tune_what what, struct tune_trial* trial) {
  begin_phase(trial, last_compared, tune_settings.rounds);
  for (unsigned k = 1; k < tune_most_algorithms; ++k) {
    if (tune_is_possible(what, k, state->size)) add_candidate(trial, k);
  }
  if (trial->count < least_for_two_phases || tune_settings.rounds < 3) return;
  trial->phase = all_compared;
  --trial->rounds;
}

static void end_trial(struct tune_state* state, struct tune_cell* cell) {
  free(cell->trial);
  cell->trial = NULL;
  --state->trials;
}

static int begin_trial(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_trial* const trial = calloc(1, sizeof *trial + most_times() * sizeof(double));
  if (trial == NULL) abort();  // the other ranks expect the same of this one
  ++state->trials;
  cell->trial = trial;
  trial->again = cell->again;
  if (cell->state == tune_unknown) {
    begin_with_all(state, what, trial);
  } else {
    begin_phase(trial, looked_again, confirming_rounds);
    if (cell->algorithm != 0) add_candidate(trial, cell->algorithm);
    if (cell->runner_up != 0 && cell->runner_up != cell->algorithm) add_candidate(trial, cell->runner_up);
  }
  return trial->count > 1;
}

/// Where a call with this algorithm goes. Nonblocking calls stay there: their MPIs read the choice at each call.
static MPI_Comm place_of(struct tune_state* state, enum tune_what what, unsigned algorithm) {
  return what < tune_blocking ? tune_shadow(state, algorithm) : state->comm;
}

/// The shadow could not be made now, so a call there would run the MPI's own choice. All ranks know it.
static int lacks_place(const struct tune_state* state, enum tune_what what, unsigned algorithm, MPI_Comm place) {
  return !tune_sets && what < tune_blocking && algorithm != 0 && place == state->comm;
}

/// A shadow that was not made may never be made, and each try costs a message.
static uint32_t longer_pause(uint32_t before) {
  return before < until_next_try ? until_next_try : before > most_again / 2 ? most_again : 2 * before;
}

/// With the present choice. before: the calls since the last look at the cell; pause: those until the next one.
static struct tune_call stay(struct tune_cell* cell, uint32_t before, uint32_t pause) {
  cell->counted += before;
  wait_with(cell, pause);
  --cell->left;
  return (struct tune_call){cell->comm, cell->algorithm, 0, 0};
}

struct tune_call tune_compared(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  if (cell->state == tune_explored && cell->again == for_ever) cell->state = tune_loaded;  // it stays for ever
  if (cell->state == tune_loaded) cell->comm = place_of(state, what, cell->algorithm);
  if (cell->state == tune_unknown || cell->state == tune_explored) {
    // The calls of all ranks use the same comparisons at a time.
    if (cell->trial == NULL && state->trials == tune_most_trials)
      return stay(cell, cell->again, cell->again > 0 ? cell->again : 1);
    if (cell->trial != NULL || begin_trial(state, what, cell)) {
      struct tune_trial* const trial = cell->trial;
      const unsigned algorithm = trial->candidates[trial->calls / trial->rounds];
      const MPI_Comm place = place_of(state, what, algorithm);
      if (lacks_place(state, what, algorithm, place)) {
        const uint32_t before = trial->again;
        return stay(cell, before, trial->again = longer_pause(before));
      }
      return (struct tune_call){place, algorithm, 1, 0};
    }
    end_trial(state, cell);  // there is nothing to choose
    cell->state = tune_left_alone;
  }
  const int lacks = lacks_place(state, what, cell->algorithm, cell->comm);
  return stay(cell, cell->again, lacks ? longer_pause(cell->again) : for_ever);
}

static int by_size(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

static unsigned counting(const struct tune_trial* trial) { return trial->rounds - (trial->rounds > 1); }

static double median(const struct tune_trial* trial, unsigned candidate) {
  double sorted[tune_most_rounds];
  const unsigned count = counting(trial);
  memcpy(sorted, trial->ns + candidate * trial->rounds, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, by_size);
  return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/// Collective.
static void take_means(const struct tune_state* state, struct tune_trial* trial) {
  double mine[tune_most_algorithms * tune_most_rounds];
  const int times = (int)times_of(trial);
  for (int k = 0; k < times; ++k) mine[k] = trial->ns[k] / state->size;
  REAL(MPI_Allreduce)
  (mine, trial->ns, times, PROBE_OBJECT("ompi_mpi_double", MPI_DOUBLE), PROBE_OBJECT("ompi_mpi_op_sum", MPI_SUM),
   state->comm);
  // Every rank must decide alike, to the last digit.
  REAL(MPI_Bcast)(trial->ns, times, PROBE_OBJECT("ompi_mpi_double", MPI_DOUBLE), 0, state->comm);
}

/// The fastest candidate without this one and the default; the default if there is no other one.
static unsigned fastest(const struct tune_trial* trial, unsigned without) {
  unsigned best = 0;
  for (unsigned k = 1; k < trial->count; ++k) {
    if (k != without && (best == 0 || median(trial, k) < median(trial, best))) best = k;
  }
  return best;
}

static int gains(const struct tune_trial* trial, unsigned candidate) {
  const unsigned count = counting(trial);
  unsigned faster = 0;
  const double* const its = trial->ns + candidate * trial->rounds;
  for (unsigned k = 0; k < count * count; ++k) faster += its[k / count] < trial->ns[k % count];
  return median(trial, candidate) < at_least * median(trial, 0) && faster >= share_of_pairs * (count * count);
}

static void commit(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  const struct tune_trial* const trial = cell->trial;
  const uint64_t next = trial->phase == looked_again ? (uint64_t)longer * trial->again : tune_settings.again;
  // Another algorithm would add in another order.
  const int is_last = next == 0 || is_reduction(what);
  cell->comm = place_of(state, what, cell->algorithm);
  cell->counted += trial->again;
  cell->state = tune_explored;
  wait_with(cell, is_last ? for_ever : next > most_again ? most_again : (uint32_t)next);
  if (lacks_place(state, what, cell->algorithm, cell->comm)) {  // it tries again, without another comparison
    cell->state = tune_loaded;
    wait_with(cell, until_next_try);
  }
  end_trial(state, cell);
}

/// From the means.
static void judge(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_trial* const trial = cell->trial;
  const unsigned first = fastest(trial, 0), second = fastest(trial, first);
  const unsigned best = trial->candidates[first], next = trial->candidates[second];
  const int is_better = gains(trial, first);
  cell->default_ns = median(trial, 0);
  cell->chosen_ns = median(trial, is_better ? first : 0);
  if (trial->phase == all_compared || (trial->phase == last_compared && is_better)) {
    const int is_early = trial->phase == all_compared;
    cell->runner_up = (uint16_t)(is_early ? next : cell->runner_up != 0 ? cell->runner_up : next);
    const unsigned rounds = trial->count / 2 < tune_most_rounds ? trial->count / 2 : tune_most_rounds;
    begin_phase(trial, is_early ? last_compared : confirmed, is_early ? rounds : confirming_rounds);
    add_candidate(trial, best);
    return;
  }
  cell->algorithm = (uint16_t)(is_better ? best : 0);
  if (!is_better) cell->runner_up = (uint16_t)best;
  else if (next != 0) cell->runner_up = (uint16_t)next;
  commit(state, what, cell);
}

static void decide(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  take_means(state, cell->trial);
  judge(state, what, cell);
}

void tune_note(struct tune_state* state, enum tune_what what, struct tune_cell* cell, uint64_t ns) {
  struct tune_trial* const trial = cell->trial;
  const unsigned round = trial->calls % trial->rounds;
  trial->ns[trial->calls - (round > 0)] = (double)ns;  // the second one replaces the first
  ++cell->counted;
  ++trial->calls;
  if (is_full(trial)) decide(state, what, cell);
}

/// Of this rank: 0: all times are known; 1: not yet; 2: one never will be.
static int is_missing(const struct tune_trial* trial) {
  if (trial->is_lost) return 2;
  for (unsigned k = 0; k < trial->count * counting(trial); ++k) {
    if (trial->ns[k / counting(trial) * trial->rounds + k % counting(trial)] < 0) return 1;
  }
  return 0;
}

/// The choice, or the MPI's own one, stays for ever.
static void give_up(struct tune_state* state, struct tune_cell* cell) {
  tune_forget_samples(NULL, cell);
  cell->counted += cell->trial->again;
  if (cell->state == tune_unknown) cell->state = tune_left_alone;
  wait_with(cell, for_ever);
  free(cell->trial->sums);
  end_trial(state, cell);
}

/// Collective: whether it is decided.
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

void tune_settle(struct tune_state* state) {
  if (state->pause != 0) {
    --state->pause;
    return;
  }
  for (unsigned k = tune_blocking * tune_classes; k < tune_collectives * tune_classes; ++k) {
    const enum tune_what what = k / tune_classes;
    struct tune_cell* const cell = state->cells[what] != NULL ? &state->cells[what][k % tune_classes] : NULL;
    if (cell != NULL && cell->trial != NULL && is_full(cell->trial)) state->waiting -= is_settled(state, what, cell);
  }
  // Requests that are under way at each blocking call shall not make each of them slow.
  const unsigned next = state->next_pause == 0 ? 1 : 2 * state->next_pause;
  state->next_pause = state->pause = state->waiting == 0 ? 0 : next < most_pause ? next : most_pause;
}

static void begin_sums(struct tune_state* state, struct tune_trial* trial) {
  const unsigned times = times_of(trial);
  struct sums* const sums = trial->sums = calloc(1, sums_bytes(times));
  if (sums == NULL) abort();  // the other ranks expect the same of this one
  for (unsigned k = 0; k < times; ++k) sums->ns[k] = (int64_t)trial->ns[k];
  sums->ns[times] = is_missing(trial) != 0;
  REAL(MPI_Iallreduce)
  (sums->ns, sums->ns + times + 1, (int)times + 1, PROBE_OBJECT("ompi_mpi_int64_t", MPI_INT64_T),
   PROBE_OBJECT("ompi_mpi_op_sum", MPI_SUM), state->comm, &sums->request);
}

/// The program has promised that the former call is complete. So all ranks have begun their sums.
static void end_sums(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_trial* const trial = cell->trial;
  struct sums* const sums = trial->sums;
  finish(sums);
  trial->sums = NULL;
  const unsigned times = times_of(trial);
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

unsigned tune_compared_later(struct tune_state* state, enum tune_what what, struct tune_cell* cell,
                             struct tune_place* place) {
  *place = (struct tune_place){NULL, NULL};
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
  const struct tune_call call = tune_compared(state, what, cell);
  struct tune_trial* const trial = cell->trial;
  if (call.begin_ns == 0) return call.algorithm;
  const unsigned round = trial->calls % trial->rounds;
  if (round > 0 || trial->rounds == 1)
    *place = (struct tune_place){&trial->ns[trial->calls - (round > 0)], &trial->is_lost};
  ++cell->counted;
  ++trial->calls;
  if (is_full(trial) && !tune_settings.one_request) ++state->waiting;
  return call.algorithm;
}
