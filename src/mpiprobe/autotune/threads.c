// Programs whose threads call MPI at the same time. MPI allows only one thread at a time to use a communicator, so the
// state of a communicator needs no lock. But some MPIs read the variables when they make a communicator. For a
// communicator of the program, they must read the usual values.
#include <sched.h>

#include "mpiprobe/autotune/tune.h"

enum { most_tries = 8 };
static int makers;       // functions of the program that make a communicator now; -1: the tuner makes one
static int makes_later;  // MPI_Comm_idup was called: Open MPI reads the variables when it ends, in any later call

void tune_begin_making(void) {
  if (!tune_settings.several_threads) return;
  for (;;) {
    int now = __atomic_load_n(&makers, __ATOMIC_RELAXED);
    if (now >= 0 && __atomic_compare_exchange_n(&makers, &now, now + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    sched_yield();  // not for long: see below
  }
}

void tune_end_making(void) {
  if (tune_settings.several_threads) __atomic_fetch_sub(&makers, 1, __ATOMIC_RELEASE);
}

void tune_makes_later(void) { __atomic_store_n(&makes_later, 1, __ATOMIC_SEQ_CST); }

static int is_alone(void) {
  int none = 0;
  if (!__atomic_compare_exchange_n(&makers, &none, -1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return 0;
  if (!__atomic_load_n(&makes_later, __ATOMIC_SEQ_CST)) return 1;
  __atomic_store_n(&makers, 0, __ATOMIC_RELEASE);
  return 0;
}

/// After the barrier, every rank is in this function and waits for no other thread, so another thread may wait for this
/// one. Without several threads, only a call of MPI_Comm_idup prevents the shadow. Then no rank ever makes it.
MPI_Comm tune_made_alone(const struct tune_state* state, unsigned algorithm,
                         MPI_Comm (*make)(const struct tune_state*, unsigned)) {
  const int several = tune_settings.several_threads;
  if (several) REAL(MPI_Barrier)(state->comm);
  for (int tries = 0; tries < (several ? most_tries : 1); ++tries) {
    const int mine = is_alone();
    int all = 0;
    REAL(MPI_Allreduce)
    (&mine, &all, 1, PROBE_OBJECT("ompi_mpi_int", MPI_INT), PROBE_OBJECT("ompi_mpi_op_min", MPI_MIN), state->comm);
    const MPI_Comm made = all ? make(state, algorithm) : state->comm;
    if (mine) __atomic_store_n(&makers, 0, __ATOMIC_RELEASE);
    if (all) return made;
    sched_yield();
  }
  return state->comm;  // the MPI's own choice, this time
}
