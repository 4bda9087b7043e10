// Error handlers of the program. A handler may not return. Before it is called, all variables of the MPI must have
// their usual values, and this rank must have counted the call, as other ranks have. So the MPI returns errors to the
// tuner, and the tuner then calls the handler.
#include <sched.h>

#include "mpiprobe/autotune/tune.h"

enum { told = 2 };  // MPI tells one of two communicators that a handle is wrong, which one depends on its version
static int may_tell, is_silent;
static struct {
  int is_kept;
  MPI_Errhandler handler;
} own[told];

static int is_usual(MPI_Errhandler handler) {
#if defined(OPEN_MPI)
  return handler == (MPI_Errhandler)probe_object("ompi_mpi_errors_are_fatal") ||
         handler == (MPI_Errhandler)probe_object("ompi_mpi_errors_return") ||
         handler == (MPI_Errhandler)probe_object("ompi_mpi_errors_abort");
#else
  return (uint32_t)handler >> 30 == 1;  // a predefined handle
#endif
}

static MPI_Errhandler returning(void) { return PROBE_OBJECT("ompi_mpi_errors_return", MPI_ERRORS_RETURN); }

static void set_handler(MPI_Comm comm, MPI_Errhandler handler) {
  static int (*set)(MPI_Comm, MPI_Errhandler);
  if (set == NULL) set = REAL(MPI_Comm_set_errhandler);
  set(comm, handler);
}

static MPI_Comm told_one(unsigned k) {
  return k == 0 ? tune_world() : PROBE_OBJECT("ompi_mpi_comm_self", MPI_COMM_SELF);
}

int tune_silence(void) {
  if (!__atomic_load_n(&may_tell, __ATOMIC_ACQUIRE)) return 0;
  while (__atomic_exchange_n(&is_silent, 1, __ATOMIC_ACQUIRE)) sched_yield();
  for (unsigned k = 0; k < told; ++k) {
    own[k].is_kept = REAL(MPI_Comm_get_errhandler)(told_one(k), &own[k].handler) == MPI_SUCCESS;
    if (own[k].is_kept) set_handler(told_one(k), returning());
  }
  return 1;
}

void tune_end_silence(void) {
  for (unsigned k = 0; k < told; ++k) {
    if (!own[k].is_kept) continue;
    set_handler(told_one(k), own[k].handler);
    REAL(MPI_Errhandler_free)(&own[k].handler);
  }
  __atomic_store_n(&is_silent, 0, __ATOMIC_RELEASE);
}

void tune_note_handler(MPI_Comm comm) {
  for (unsigned k = 0; k < told; ++k) {
    if (comm == told_one(k)) __atomic_store_n(&may_tell, 1, __ATOMIC_RELEASE);
  }
}

void tune_drop_handler(struct tune_state* state) {
  if (state->has_handler) REAL(MPI_Errhandler_free)(&state->handler);
  state->has_handler = 0;
}

void tune_watch_handler(struct tune_state* state) {
  tune_drop_handler(state);
  if (REAL(MPI_Comm_get_errhandler)(state->comm, &state->handler) != MPI_SUCCESS) return;
  state->has_handler = 1;
  if (is_usual(state->handler)) tune_drop_handler(state);
}

void tune_give_handler(const struct tune_state* state, MPI_Comm shadow) {
  MPI_Errhandler usual;
  if (state->has_handler) {
    set_handler(shadow, returning());
  } else if (REAL(MPI_Comm_get_errhandler)(state->comm, &usual) == MPI_SUCCESS) {
    set_handler(shadow, usual);
    REAL(MPI_Errhandler_free)(&usual);
  }
}

void tune_keep_errors(const struct tune_state* state) { set_handler(state->comm, returning()); }

void tune_tell_error(const struct tune_state* state, int keeps, int error) {
  if (keeps) set_handler(state->comm, state->handler);
  if (error != MPI_SUCCESS) REAL(MPI_Comm_call_errhandler)(state->comm, error);
}
