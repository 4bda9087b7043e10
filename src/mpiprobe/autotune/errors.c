// Error handlers of the program. A handler may not return. Before it is called, all variables of the MPI must have
// their usual values, and this rank must have counted the call, as other ranks have. So the MPI returns errors to the
// tuner, and the tuner then calls the handler.
#include "mpiprobe/autotune/tune.h"

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
