// Calls that return before they are complete. MPI_I… must not wait for other ranks: a rank may call it long before the
// others, and they may wait for a message that comes after it. So ranks agree only in blocking calls.
#include <stdlib.h>

#include "mpiprobe/autotune/tune.h"

enum { most_samples = 64 };
static struct tune_sample samples[most_samples];
unsigned tune_under_way;

/// Requests that were complete when their functions returned share a handle.
static int is_complete(MPI_Request request) {
#if defined(OPEN_MPI)
  return request == (MPI_Request)PROBE_OBJECT("ompi_request_empty", NULL);
#else
  return (uint32_t)request >> 30 == 1;  // a predefined handle
#endif
}

struct tune_cell* tune_later_cell(struct tune_state* state, enum tune_what what, uint64_t bytes) {
  // Another thread would find the variables of this call.
  if (state->cells[0] == NULL || tune_settings.several_threads) return NULL;
  struct tune_cell* cells = state->cells[what];
  if (cells == NULL) cells = tune_later_cells(state, what);
  return &cells[tune_class(bytes)];
}

static struct tune_sample* new_sample(const struct tune_state* state, const struct tune_cell* cell,
                                      struct tune_place place) {
  for (unsigned k = 0; place.ns != NULL && k < most_samples; ++k) {
    if (samples[k].cell != NULL) continue;
    samples[k] = (struct tune_sample){.cell = cell, .state = state, .place = place};
    return &samples[k];
  }
  if (place.ns != NULL) *place.is_lost = 1;
  return NULL;
}

struct tune_later tune_start(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_later call = {cell->algorithm, NULL, 0, 0};
  if (cell->left != 0) {
    --cell->left;
  } else {
    struct tune_place place;
    call.algorithm = tune_compared_later(state, what, cell, &place);
    call.sample = new_sample(state, cell, place);
  }
  if (call.algorithm != 0 || call.sample != NULL) call.keeps_errors = tune_keeps_errors(state);
  if (call.algorithm != 0) tune_set(what, call.algorithm);
  if (call.sample != NULL) call.begin_ns = probe_nanoseconds();
  return call;
}

static void end_sample(struct tune_sample* sample, int is_right) {
  if (is_right) *sample->place.ns = (double)sample->ns;
  else *sample->place.is_lost = 1;
  sample->cell = NULL;
}

static void watch(struct tune_sample* sample, int error, const MPI_Request* request) {
  if (error != MPI_SUCCESS || is_complete(*request)) {
    end_sample(sample, error == MPI_SUCCESS);
    return;
  }
  for (unsigned k = 0; k < most_samples; ++k) {
    struct tune_sample* const other = &samples[k];  // it ended in a function without a wrapper
    if (other->cell == NULL || !other->is_under_way || other->request != *request) continue;
    end_sample(other, 0);
    --tune_under_way;
  }
  sample->request = *request;
  sample->is_under_way = 1;
  ++tune_under_way;
}

void tune_started(const struct tune_state* state, enum tune_what what, struct tune_later* call, int error,
                  const MPI_Request* request) {
  if (call->sample != NULL) call->sample->ns = probe_nanoseconds() - call->begin_ns;
  if (call->algorithm != 0) tune_set(what, 0);
  if (call->sample != NULL) watch(call->sample, error, request);
  if (call->keeps_errors) tune_tell_error(state, 1, error);
}

uint64_t tune_before_wait(int count, const MPI_Request requests[]) {
  for (unsigned k = 0; k < most_samples; ++k) {
    struct tune_sample* const sample = &samples[k];
    sample->position = -1;
    for (int at = 0; sample->cell != NULL && sample->is_under_way && at < count && sample->position < 0; ++at) {
      if (requests[at] == sample->request) sample->position = at;
    }
  }
  return probe_nanoseconds();
}

void tune_after_wait(const MPI_Request requests[], uint64_t begin_ns) {
  const uint64_t ns = probe_nanoseconds() - begin_ns;
  for (unsigned k = 0; k < most_samples; ++k) {
    struct tune_sample* const sample = &samples[k];
    if (sample->cell == NULL || sample->position < 0) continue;
    sample->ns += ns;
    const int has_ended = requests[sample->position] != sample->request;  // the handle is null now
    sample->position = -1;
    if (!has_ended) continue;
    end_sample(sample, 1);
    --tune_under_way;
  }
}

void tune_forget_samples(const struct tune_state* state, const struct tune_cell* cell) {
  for (unsigned k = 0; k < most_samples; ++k) {
    struct tune_sample* const sample = &samples[k];
    if (sample->cell == NULL || (sample->state != state && sample->cell != cell)) continue;
    tune_under_way -= sample->is_under_way;
    sample->cell = NULL;
  }
}

unsigned tune_algorithm_to_keep(struct tune_state* state, enum tune_what what, uint64_t bytes) {
  // Some algorithms of MPICH 5.0 end the program if a persistent request has them.
  if (tune_settings.several_threads || tune_sets) return 0;
  tune_cell(state, tune_barrier, 0);  // makes cells, and decides what can be decided
  const struct tune_cell* const cell = tune_later_cell(state, what, bytes);
  return tune_has_choice(cell) ? cell->algorithm : 0;
}
