// The choices of the tuner, with times that this program makes up: cells_program. Prints nothing if all is right.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/tune.h"

enum { count = 7, studies = 200 };
static double usual_ns[count];  // of each algorithm
static int faults;

// One rank: sums are what it has, and every reduction commutes.
static int own_allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)type, (void)op, (void)comm;
  memcpy(out, in, (size_t)n * sizeof(double));
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
struct tune_settings tune_settings = {.rounds = 3, .warm_up = 3, .again = 100};
int tune_is_possible(enum tune_what what, unsigned algorithm, int ranks) {
  return (void)what, (void)ranks, algorithm < count;
}
MPI_Comm tune_shadow(struct tune_state* state, unsigned algorithm) { return (void)algorithm, state->comm; }
void tune_set(enum tune_what what, unsigned algorithm) { (void)what, (void)algorithm; }

static double noise(void) { return 1.0 + 0.3 * rand() / RAND_MAX + (rand() % 10 == 0 ? 2.0 * rand() / RAND_MAX : 0); }

static unsigned call(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_call one = {cell->comm, cell->algorithm, 0};
  if (cell->left != 0) --cell->left;
  else one = tune_compared(state, what, cell);
  if (one.begin_ns != 0) tune_note(state, what, cell, (uint64_t)(usual_ns[one.algorithm] * noise()));
  return one.algorithm;
}

static void expect(int is_right, const char* what, int number) {
  if (!is_right) fprintf(stderr, "%s: %d\n", what, number), ++faults;
}

/// The algorithm after so many calls.
static unsigned after(enum tune_what what, int calls, struct tune_cell* cell) {
  struct tune_state state = {.size = 1};
  *cell = (struct tune_cell){.left = tune_settings.warm_up, .again = tune_settings.warm_up};
  for (int k = 0; k < calls; ++k) call(&state, what, cell);
  expect(cell->counted + (cell->again - cell->left) == (uint64_t)calls, "calls were counted wrongly", calls);
  return cell->algorithm;
}

static void set_times(double others_ns, unsigned fast, double fast_ns) {
  for (unsigned k = 0; k < count; ++k) usual_ns[k] = k == fast ? fast_ns : others_ns;
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

int main(void) {
  srand(1);
  const int explored = (int)tune_settings.warm_up + 3 * count + 2 * 8;
  struct tune_cell cell;
  set_times(20000, 4, 10000);
  expect(chosen_in(tune_bcast, explored, 4) > 0.8 * studies, "twice as fast, and chosen too rarely", 4);
  after(tune_bcast, explored, &cell);
  expect(cell.trial == NULL && cell.state == tune_explored, "it still explores after so many calls", explored);
  set_times(20000, 0, 20000);
  expect(chosen_in(tune_bcast, explored, 0) > 0.9 * studies, "equal, and the default was left too often", 0);
  set_times(20000, 0, 10000);
  expect(chosen_in(tune_bcast, explored, 0) == studies, "the default is the fastest and was left", 0);

  // What was fast becomes slow: the choice is looked at again. A reduction keeps the order of its operands.
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
