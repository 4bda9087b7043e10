// The choices of the tuner, with times that this program makes up: cells_program. Prints nothing if all is right.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/race.h"

enum { most = tune_most_algorithms, studies = 200 };
static unsigned count = 7;
static double usual_ns[most];  // of each algorithm
static int faults;

// One rank: sums are what it has, and every reduction commutes.
static int own_allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)type, (void)op, (void)comm;
  memcpy(out, in, n == 1 ? sizeof(int) : (size_t)n * sizeof(double));  // one: whether all times are known
  return MPI_SUCCESS;
}
static int own_bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)data, (void)n, (void)type, (void)root, (void)comm;
  return MPI_SUCCESS;
}
void* probe_find(const char* name) {
  return strcmp(name, "MPI_Allreduce") == 0 ? (void*)own_allreduce : (void*)own_bcast;
}
void* probe_object(const char* symbol) { return (void)symbol, NULL; }
struct tune_settings tune_settings = {.rounds = 3, .warm_up = 1, .again = 100};
int tune_is_possible(enum tune_what what, unsigned algorithm, int ranks) {
  return (void)what, (void)ranks, algorithm < count;
}
MPI_Comm tune_shadow(struct tune_state* state, unsigned algorithm) {
  return algorithm == 0 ? state->comm : (MPI_Comm)(uintptr_t)1;
}
void tune_set(enum tune_what what, unsigned algorithm) { (void)what, (void)algorithm; }
static int under_way;  // nonblocking calls
void tune_forget_samples(const struct tune_state* state, const struct tune_cell* cell) {
  (void)state, (void)cell;
  under_way = 0;
}

static double uniform(void) { return (rand() + 0.5) / (RAND_MAX + 1.0); }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()); }
/// As of two ranks on two cores, of eight ranks on two cores, and of one that is off its core in some calls. With
/// slow_drift, each call is a little slower than the one before. With phases, slow and fast ones follow each other.
enum kind { few_outliers, two_ranks, eight_ranks, off_the_core, slow_drift, phases, kinds };
static enum kind kind = few_outliers;
static unsigned calls_before, phase_calls, phase_begins;
static double noise(void) {
  ++calls_before;
  switch (kind) {
    case two_ranks:
      return exp(0.15 * normal());
    case eight_ranks:
      return exp(0.3 * normal());
    case off_the_core:
      return exp(0.15 * normal()) * (uniform() < 0.1 ? 1 + 1000 * uniform() : 1);
    case slow_drift:
      return exp(0.15 * normal()) * (1 + 0.005 * calls_before);
    case phases:
      return exp(0.15 * normal()) * ((calls_before + phase_begins) / phase_calls % 2 != 0 ? 1.5 : 1);
    default:
      return 1.0 + 0.3 * uniform() + (uniform() < 0.1 ? 2.0 * uniform() : 0);
  }
}

static unsigned call(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_call one = {cell->comm, cell->algorithm, 0};
  if (cell->left != 0) --cell->left;
  else one = tune_next_call(state, what, cell);
  if (one.begin_ns != 0) tune_note(state, what, cell, (uint64_t)(usual_ns[one.algorithm] * noise()));
  return one.algorithm;
}

static void expect(int is_right, const char* what, int number) {
  if (!is_right) fprintf(stderr, "%s: %d\n", what, number), ++faults;
}

/// The algorithm after this number of calls.
static unsigned after(enum tune_what what, int calls, struct tune_cell* cell) {
  struct tune_state state = {.size = 1};
  calls_before = 0;
  phase_calls = 10 + (unsigned)(70 * uniform());
  phase_begins = (unsigned)(2 * phase_calls * uniform());
  *cell = (struct tune_cell){.left = tune_settings.warm_up, .again = tune_settings.warm_up};
  for (int k = 0; k < calls; ++k) call(&state, what, cell);
  expect(cell->counted + (cell->again - cell->left) == (uint64_t)calls, "calls were counted wrongly", calls);
  return cell->algorithm;
}

/// The same for nonblocking calls, of which every `until` calls are complete before a blocking one.
static unsigned later(int calls, int until, int lost, struct tune_cell* block) {
  struct tune_state state = {.size = 1};
  struct tune_place places[64];
  double ns[64];
  under_way = 0;
  state.cells[tune_ibcast] = block;
  memset(block, 0, tune_classes * sizeof *block);
  block->left = block->again = tune_settings.warm_up;
  for (int k = 0; k < calls; ++k) {
    struct tune_place place = {NULL, NULL};
    unsigned algorithm = block->algorithm;
    if (block->left != 0) --block->left;
    else algorithm = tune_next_nonblocking(&state, tune_ibcast, block, &place);
    ns[under_way] = usual_ns[algorithm] * noise();
    if (place.ns != NULL && k == lost) *place.is_lost = 1;
    else if (place.ns != NULL) places[under_way++] = place;
    if (state.waiting != 0) tune_settle(&state);
    if ((k + 1) % until == 0)
      for (; under_way > 0; --under_way) *places[under_way - 1].ns = ns[under_way - 1];
  }
  expect(block->counted + (block->again - block->left) == (uint64_t)calls, "nonblocking calls were counted wrongly",
         calls);
  return block->algorithm;
}

static void set_times(double others_ns, unsigned fast, double fast_ns) {
  for (unsigned k = 0; k < most; ++k) usual_ns[k] = k == fast ? fast_ns : others_ns;
}

static int chosen_in(enum tune_what what, int calls, unsigned algorithm) {
  int number = 0;
  for (int k = 0; k < studies; ++k) {
    struct tune_cell cell;
    number += after(what, calls, &cell) == algorithm;
    free(cell.trial);
  }
  return number;
}

/// Studies in which the time with the choice is at least this factor longer than the best one, after these calls.
static int regrets(enum tune_what what, int calls, double factor) {
  int number = 0;
  for (int k = 0; k < studies; ++k) {
    struct tune_cell cell;
    double best = usual_ns[0];
    const unsigned chosen = after(what, calls, &cell);
    for (unsigned at = 1; at < count; ++at) best = usual_ns[at] < best ? usual_ns[at] : best;
    number += usual_ns[chosen] >= factor * best;
    free(cell.trial);
  }
  return number;
}

/// Three calls for each algorithm, with all kinds of noise. A choice that is not clear is made by the second look.
static void expect_choices(int is_shown) {
  static const char* const names[kinds] = {"few outliers", "two ranks",  "eight ranks",
                                           "off the core", "slow drift", "phases"};
  for (count = 3; count <= 10; count += count == 3 ? 1 : 3) {
    const int first = 3 * (int)count, second = first + 50 + tune_most_looked_again * tune_look_rounds;
    for (kind = few_outliers; kind < kinds; ++kind) {
      struct tune_cell cell;
      set_times(10600, 0, 10000);
      const int slower = regrets(tune_bcast, first, 1.05), later = regrets(tune_bcast, second, 1.05);
      set_times(12000, 0, 10000);
      const int much = regrets(tune_bcast, first, 1.05);
      set_times(20000, count - 1, 10000);
      const int missed = regrets(tune_bcast, first, 1.05), second_missed = regrets(tune_bcast, second, 1.05);
      if (is_shown)
        printf("%2u %-12s  slower by 6%%: %3d, later %3d; by 20%%: %3d; twice as fast and missed: %3d, later %3d\n",
               count, names[kind], slower, later, much, missed, second_missed);
      after(tune_bcast, first, &cell);
      expect(cell.trial == NULL && cell.state == tune_explored, "it still explores after three calls each", (int)count);
      expect(slower <= 0.08 * studies, "a slower algorithm than the default was chosen", slower);
      expect(later <= (kind == phases ? 0.1 : 0.08) * studies, "a slower algorithm was chosen by the second look",
             later);
      expect(much <= 0.06 * studies, "a much slower algorithm than the default was chosen", much);
      const double share = kind == eight_ranks || kind == off_the_core ? 0.35 : 0.15;
      expect(second_missed <= share * studies, "twice as fast, and chosen too rarely", second_missed);
    }
  }
  kind = few_outliers;
  count = 7;
}

int main(int n, char** words) {
  (void)words;
  srand(1);
  expect_choices(n > 1);
  const int explored = 3 * (int)count;
  struct tune_cell cell;
  set_times(20000, 4, 10000);
  expect(chosen_in(tune_bcast, explored, 4) > 0.6 * studies, "twice as fast, and chosen too rarely", 4);
  set_times(20000, 0, 20000);
  expect(chosen_in(tune_bcast, explored, 0) > 0.9 * studies, "equal, and the default was left too often", 0);
  set_times(20000, 0, 10000);
  expect(chosen_in(tune_bcast, explored, 0) == studies, "the default is the fastest and was left", 0);

  // While too many others are compared, the MPI's own choice stays.
  struct tune_state busy = {.size = 1, .trials = tune_most_trials};
  set_times(20000, 4, 10000);
  cell = (struct tune_cell){.left = tune_settings.warm_up, .again = tune_settings.warm_up};
  for (int k = 0; k < 100; ++k) expect(call(&busy, tune_bcast, &cell) == 0, "compared although others are", k);
  expect(cell.trial == NULL && cell.counted + (cell.again - cell.left) == 100, "calls that were put off", 100);
  busy.trials = tune_most_trials - 1;
  for (int k = 0; k < explored; ++k) call(&busy, tune_bcast, &cell);
  expect(cell.state == tune_explored && busy.trials == tune_most_trials - 1, "others have ended", (int)busy.trials);

  // Nonblocking calls: also if ranks ask several times before all of them are complete.
  struct tune_cell block[tune_classes];
  for (int until = 1; until <= 16; until *= 4) {
    int found = 0;
    set_times(20000, 4, 10000);
    for (int k = 0; k < studies; ++k) found += later(explored + 100, until, -1, block) == 4, free(block->trial);
    expect(found > 0.8 * studies, "twice as fast in nonblocking calls, and chosen too rarely", found);
  }
  int gave_up = 0;
  for (int k = 0; k < (int)count; ++k) {
    const int lost = (int)tune_settings.warm_up + 2 * k + 1;
    gave_up += later(explored, 1, lost, block) == 0 && block->state == tune_left_alone;
  }
  expect(gave_up == (int)count, "a time was lost, and a choice was made", gave_up);

  // A fast algorithm becomes slow: the choice is checked again. A reduction keeps the order of its operands.
  int broadcasts = 0, reductions = 0;
  for (int k = 0; k < studies; ++k) {
    struct tune_state state = {.size = 1};
    for (int reduces = 0; reduces < 2; ++reduces) {
      const enum tune_what what = reduces ? tune_allreduce : tune_bcast;
      set_times(20000, 4, 10000);
      if (after(what, explored, &cell) != 4) continue;
      set_times(20000, 4, 40000);
      for (int more = 0; more < 200; ++more) call(&state, what, &cell);
      *(reduces ? &reductions : &broadcasts) += cell.algorithm == 4;
      free(cell.trial);
    }
  }
  expect(broadcasts < 0.05 * studies, "slow now, and still used", broadcasts);
  expect(reductions > 0.8 * studies, "reductions with the choice that they had", reductions);
  return faults != 0;
}
