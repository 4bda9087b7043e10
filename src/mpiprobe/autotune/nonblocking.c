// Nonblocking calls. MPI_I… must not wait for other ranks. A rank may call it long before the others, and these may
// wait for a message that the rank sends after this call. So ranks agree only in blocking calls.
#include <stdlib.h>

#include "mpiprobe/autotune/tune.h"

static struct tune_sample samples[tune_most_samples];
static unsigned begun;
unsigned tune_under_way;

/// Requests that were complete when their functions returned share a handle.
static int is_complete(MPI_Request request) {
#if defined(OPEN_MPI)
  return request == (MPI_Request)PROBE_OBJECT("ompi_request_empty", NULL);
#else
  return (uint32_t)request >> 30 == 1;  // a predefined handle
#endif
}

struct tune_cell* tune_nonblocking_cell(struct tune_state* state, enum tune_what what, uint64_t bytes) {
  if (state->cells[what] == NULL) tune_note_no_choice(what);
  // Another thread would read the variables of this call.
  if (state->agreed == NULL || tune_settings.several_threads) return NULL;
  struct tune_cell* cells = state->cells[what];
  if (cells == NULL && (cells = tune_later_cells(state, what)) == NULL) return NULL;
  return &cells[tune_class(bytes)];
}

static struct tune_sample* new_sample(const struct tune_state* state, struct tune_cell* cell, struct tune_place place) {
  const int counts = place.ns != NULL || place.is_watched;
  for (unsigned k = 0; counts && k < tune_most_samples; ++k) {
    if (samples[k].cell != NULL) continue;
    samples[k] = (struct tune_sample){.cell = cell, .state = state, .place = place, .number = ++begun};
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
    call.algorithm = tune_next_nonblocking(state, what, cell, &place);
    call.sample = new_sample(state, cell, place);
  }
  if (call.algorithm != 0 || call.sample != NULL) call.keeps_errors = tune_keeps_errors(state);
  if (call.algorithm != 0) tune_set(what, call.algorithm);
  if (call.sample != NULL) call.begin_ns = probe_nanoseconds();
  return call;
}

static void end_sample(struct tune_sample* sample, int is_right) {
  const struct tune_place place = sample->place;
  if (is_right && place.is_watched) tune_watch(&sample->cell->watch, sample->ns);
  else if (is_right) *place.ns = (double)sample->ns;
  else if (!place.is_watched) *place.is_lost = 1;
  sample->cell = NULL;
}

void tune_forget_request(const MPI_Request* request) {
  for (unsigned k = 0; k < tune_most_samples; ++k) {
    struct tune_sample* const sample = &samples[k];
    if (sample->cell == NULL || !sample->is_under_way || sample->request != *request) continue;
    end_sample(sample, 0);
    --tune_under_way;
  }
}

static void watch(struct tune_sample* sample, int error, const MPI_Request* request) {
  if (error != MPI_SUCCESS || is_complete(*request)) {
    end_sample(sample, error == MPI_SUCCESS);
    return;
  }
  sample->request = *request;
  sample->is_under_way = 1;
  ++tune_under_way;
}

void tune_started(const struct tune_state* state, enum tune_what what, struct tune_later* call, int error,
                  const MPI_Request* request) {
  if (call->sample != NULL) call->sample->ns = probe_nanoseconds() - call->begin_ns;
  if (call->algorithm != 0) tune_set(what, 0);
  tune_passed(error, request);
  if (call->sample != NULL) watch(call->sample, error, request);
  if (call->keeps_errors) tune_tell_error(state, 1, error);
}

void tune_before_wait(struct tune_wait* wait, int count, const MPI_Request requests[]) {
  for (unsigned k = 0; k < tune_most_samples; ++k) {
    const struct tune_sample* const sample = &samples[k];
    wait->positions[k] = -1;
    wait->numbers[k] = sample->number;
    for (int at = 0; sample->cell != NULL && sample->is_under_way && at < count && wait->positions[k] < 0; ++at) {
      if (requests[at] == sample->request) wait->positions[k] = at;
    }
  }
  wait->begin_ns = probe_nanoseconds();
}

void tune_after_wait(const struct tune_wait* wait, const MPI_Request requests[]) {
  const uint64_t ns = probe_nanoseconds() - wait->begin_ns;
  for (unsigned k = 0; k < tune_most_samples; ++k) {
    struct tune_sample* const sample = &samples[k];
    if (sample->cell == NULL || wait->positions[k] < 0 || wait->numbers[k] != sample->number) continue;
    sample->ns += ns;
    if (requests[wait->positions[k]] == sample->request) continue;  // a completed request has become null
    end_sample(sample, 1);
    --tune_under_way;
  }
}

void tune_forget_samples(const struct tune_state* state, const struct tune_cell* cell) {
  for (unsigned k = 0; k < tune_most_samples; ++k) {
    struct tune_sample* const sample = &samples[k];
    if (sample->cell == NULL || (sample->state != state && sample->cell != cell)) continue;
    tune_under_way -= sample->is_under_way;
    sample->cell = NULL;
  }
}

unsigned tune_algorithm_to_keep(struct tune_state* state, enum tune_what what, uint64_t bytes) {
  tune_note_no_choice_if_persistent(what);
  // Some algorithms of MPICH 5.0 end the program if a persistent request has them.
  if (tune_settings.several_threads || tune_sets) return 0;
  if (!tune_agree(state)) return 0;
  if (state->waiting != 0) tune_settle(state);
  const struct tune_cell* const cell = tune_nonblocking_cell(state, what, bytes);
  return cell != NULL && tune_has_choice(cell) ? cell->algorithm : 0;
}
