#include "timing.h"

#include <stdlib.h>

#include "groups.h"
#include "ranks.h"

enum { tag = 7 };

int64_t* times;
static int64_t *starts, *ends;  // of the calls; the ends follow the starts in memory

void make_room_for_times(void) {
  times = starts = malloc(2 * sizeof(int64_t) * most_calls);
  if (!times) MPI_Abort(MPI_COMM_WORLD, 1);
}

// Waits for this time. Returns whether it was over before.
static int wait_until(int64_t begin_ns) {
  const int late = now_ns() > begin_ns;
  while (now_ns() < begin_ns) {
  }
  return late;
}

int timed_calls(const operation* what, MPI_Comm comm, int bytes, int root, int calls, int64_t window_ns) {
  int code = MPI_SUCCESS, late = 0;
  ends = starts + calls;
  compare_clocks();
  int64_t first_ns = now_ns() + window_ns + 200000;
  if (window_ns > 0) broadcast(&first_ns, sizeof first_ns);
  for (int i = 0; i < calls; ++i) {  // also after an error, because other ranks wait in the barrier
    if (window_ns > 0) late = wait_until(first_ns + i * window_ns);
    else barrier();
    starts[i] = now_ns();
    if (late) starts[i] = -starts[i];
    if (group != MPI_COMM_NULL && code == MPI_SUCCESS) code = call(what, comm, bytes, root);
    ends[i] = now_ns();
  }
  return code;
}

// The ranks outside of all groups call nothing, so their times do not count.
static void leave_out_times(int calls) {
  for (int i = 0; i < calls && group == MPI_COMM_NULL; ++i) starts[i] = INT64_MAX, ends[i] = 0;
}

// Finds at rank 0, over all ranks, the earliest start of each call and its latest end. The start is negative if a rank
// was late.
static void collect(int calls) {
  if (rank != 0) {
    MPI_Send(starts, 2 * calls, MPI_INT64_T, 0, tag, control);
    return;
  }
  int64_t* both = malloc(2 * sizeof(int64_t) * (size_t)calls);
  if (!both) MPI_Abort(control, 1);
  for (int other = 1; other < size; ++other) {
    MPI_Recv(both, 2 * calls, MPI_INT64_T, other, tag, control, MPI_STATUS_IGNORE);
    for (int i = 0; i < calls; ++i) {
      const int late = starts[i] < 0 || both[i] < 0;
      const int64_t mine = llabs(starts[i]), theirs = llabs(both[i]);
      starts[i] = (mine < theirs ? mine : theirs) * (late ? -1 : 1);
      if (both[calls + i] > ends[i]) ends[i] = both[calls + i];
    }
  }
  free(both);
}

void collect_times(int calls) {
  correct_clocks(starts, 2 * calls);
  leave_out_times(calls);
  collect(calls);
  for (int i = 0; i < calls && rank == 0; ++i) times[i] = starts[i] < 0 ? -(ends[i] + starts[i]) : ends[i] - starts[i];
}
