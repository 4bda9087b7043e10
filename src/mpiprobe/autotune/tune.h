// The functions that the wrappers of the tuner call. An algorithm is a number: 0 is the MPI's own choice.
#pragma once
#include <stdio.h>

#include "mpiprobe/mpi.h"

enum tune_what {
  tune_barrier,
  tune_bcast,
  tune_reduce,
  tune_allreduce,
  tune_gather,
  tune_gatherv,
  tune_scatter,
  tune_scatterv,
  tune_allgather,
  tune_allgatherv,
  tune_alltoall,
  tune_alltoallv,
  tune_reduce_scatter,
  tune_reduce_scatter_block,
  tune_scan,
  tune_exscan,
  tune_ibarrier,  // the nonblocking ones, in the same order
  tune_ibcast,
  tune_ireduce,
  tune_iallreduce,
  tune_igather,
  tune_igatherv,
  tune_iscatter,
  tune_iscatterv,
  tune_iallgather,
  tune_iallgatherv,
  tune_ialltoall,
  tune_ialltoallv,
  tune_ireduce_scatter,
  tune_ireduce_scatter_block,
  tune_iscan,
  tune_iexscan,
  tune_collectives,
  tune_blocking = tune_ibarrier  // number of the blocking ones
};
_Static_assert(tune_collectives <= 64, "a set of collectives has 64 bits");
enum {
  tune_classes = 34,  // of sizes: 0 bytes, 1, 2 to 3, 4 to 7, …; the last one has all larger sizes
  tune_most_algorithms = 16,
  tune_name_bytes = 96,
  tune_most_rounds = 16,
  tune_ways = 16,  // of making a communicator
  tune_most_samples = 64,
  tune_most_trials = 64,  // comparisons at a time on a communicator
  tune_stride = 32,       // one of these calls with a choice is timed
  tune_window = 16,       // timed calls after which the ranks look for a drift
};

/// A collective of an MPI, from its data file. `second` is a further variable, if there is one. It must have one value
/// for the MPI's own choice, and another one for an algorithm.
struct tune_collective {
  const char* name;
  const char* variable;  // of MPI_T
  const char* second;
  int second_usual, second_forced;
  unsigned count;
  const char* const* names;                                            // of the algorithms 1, 2, …
  uint32_t two_ranks_only, powers_of_two_only, unsafe, splits_counts;  // a bit for each algorithm
};
struct tune_mpi {
  const char* version;  // the beginning of its version
  int kept;             // a communicator keeps the algorithms that were set when it was made
  const struct tune_collective* of[tune_collectives];  // null: unknown
};
extern const struct tune_mpi tune_mpis[];
extern const unsigned tune_mpi_count;
extern const char* const tune_names[tune_collectives];

/// From the environment; see docs/howto/autotune.md.
struct tune_settings {
  const char *dump, *load;  // files; null: none
  char communicators[512];  // patterns with commas; empty: all
  char without[1024];       // algorithms that are not used, such as bcast/chain, with commas
  unsigned rounds;          // calls of each algorithm
  unsigned warm_up;         // calls of a cell before it is explored
  unsigned again;           // calls until the choice is looked at again, at first
  uint64_t least, most;     // bytes
  uint64_t collectives;     // a bit for each
  uint64_t memory;          // of a process, in bytes
  int reproducible;         // reductions are left alone
  int one_thread;           // the user says that one thread at a time calls MPI
  int several_threads;      // they call MPI at the same time
  int least_ranks;          // of a communicator; 1 for benchmarks
  int same_types;           // the user says that all ranks of a broadcast give the same datatype
  int refuses;              // for tests: an algorithm that cannot run stays an error
  int one_request;          // the user says that a rank completes a nonblocking collective before the next such one
};
extern struct tune_settings tune_settings;
void tune_read_settings(void);

MPI_Comm tune_world(void);
/// Whether this is rank 0 of the world.
int tune_is_first(void);

/// The number of nodes on which these ranks run. Collective.
int tune_count_nodes(MPI_Comm world);

/// Why nothing is tuned, for the dump; null if the tuner is active.
extern const char* tune_off;
extern const struct tune_mpi* tune_mpi;
/// Finds the MPI and its variables. level: the thread level of MPI. Sets tune_off if this fails.
void tune_begin_variables(const char* library_version, int level);
/// Whether another component of this MPI may handle calls before the one with the choice. It then makes communicators
/// in such calls, and no other thread may disturb this.
int tune_has_component_before(void);
/// Collective. If one rank cannot choose an algorithm, no rank chooses it.
void tune_agree_on_variables(MPI_Comm world);
/// Whether the algorithm exists for this number of ranks, and can be chosen here.
int tune_is_possible(enum tune_what what, unsigned algorithm, int ranks);
/// Sets the variables, if the MPI reads them at each call: those with tune_sets, and every MPI for nonblocking
/// collectives. Call this before a call, and after it with algorithm 0. Between the calls of the program, every
/// variable must have its usual value, because the MPI's own calls on other communicators read it, too.
void tune_set(enum tune_what what, unsigned algorithm);
#if defined(OPEN_MPI)
enum { tune_sets = 0 };
#else
enum { tune_sets = 1 };
#endif

/// The durations of calls with a choice; see drift.c.
struct tune_watch {
  float shortest_ns[tune_window / 2];  // of this window on this rank, in order; the last one is the median
  float least_ns, most_ns;             // of the first windows after a comparison, as means over the ranks
  uint8_t calls;                       // that were timed in this window
  uint8_t windows;                     // since the comparison; 255: at least 255
  uint8_t pause;                       // windows after a comparison that cannot begin another one
  int8_t way;                          // of the last window: 1 if it was slower, -1 if it was faster
};

/// Calls of one collective with sizes of one class.
struct tune_cell {
  MPI_Comm comm;                 // for its calls, if the choice is made
  uint32_t left;                 // calls with this choice before one is timed or compared; at first, the warm-up
  uint32_t again;                // the number from which `left` counts down
  uint32_t wait;                 // calls between the last comparison and the next one
  uint32_t rest;                 // those of them after `left`
  uint16_t algorithm;            // the choice
  uint16_t runner_up, third;     // of the last comparison
  uint64_t counted;              // calls, without those that `left` counts
  double default_ns, chosen_ns;  // of a call, as the mean of the ranks, when they were last compared; 0: unknown
  uint8_t state;                 // enum tune_cell_state
  struct tune_trial* trial;
  struct tune_watch watch;
};
enum tune_cell_state { tune_unknown, tune_explored, tune_loaded, tune_left_alone };
static inline int tune_has_choice(const struct tune_cell* cell) {
  return cell->state == tune_explored || cell->state == tune_loaded;
}

struct tune_state {
  MPI_Comm comm;
  int rank, size;
  int leaves_alone;
  int has_handler;         // the program has given it an error handler of its own
  MPI_Errhandler handler;  // that one
  char name[tune_name_bytes];
  unsigned children[tune_ways];               // number of those made from it in each way
  int64_t bytes;                              // largest memory that it takes
  struct tune_agreed* agreed;                 // null before the first blocking call
  struct tune_cell* cells[tune_collectives];  // of all classes; null before a call
  unsigned trials;                            // cells whose algorithms are compared
  unsigned waiting;                           // cells of nonblocking collectives that wait for other ranks
  unsigned pause, next_pause;                 // blocking calls until ranks are asked again whether they can decide
  struct tune_state* next;
};
/// The values that are the same on all ranks of a communicator.
struct tune_agreed {
  MPI_Comm shadows[tune_most_algorithms];  // the communicator itself if none was made
  uint8_t choices[tune_collectives][tune_classes];
  char members[probe_members_bytes];  // its ranks in the world, as rank 0 knows them
};

/// The state of a communicator; null if its calls are not tuned.
struct tune_state* tune_find(MPI_Comm comm);
/// The last state that this thread has found.
extern _Thread_local struct tune_state* tune_last;
static inline struct tune_state* tune_state_of(MPI_Comm comm) {
  struct tune_state* const last = tune_last;
  if (last != NULL && last->comm == comm) return last->leaves_alone ? NULL : last;
  return tune_find(comm);
}
void tune_begin_communicators(void);
void tune_named(MPI_Comm parent, MPI_Comm made, const char* how, int colour);
/// The same for communicators whose names contain their ranks: of the group, or of both sides of an intercommunicator.
void tune_named_group(MPI_Comm parent, MPI_Comm made, MPI_Group group, int tag);
void tune_named_between(MPI_Comm made);
/// Prepares nonblocking calls before the first blocking one, if ranks then know their choices. Collective.
void tune_prepare(struct tune_state* state);
/// The program has given this communicator another error handler.
void tune_follow_errhandler(MPI_Comm comm);
/// Until the end of the silence, no handler of the program is told that a handle is no communicator. Returns false if
/// the program has no such handler; then do not end the silence.
int tune_silence(void);
void tune_end_silence(void);
/// The program has given this communicator a handler.
void tune_note_handler(MPI_Comm comm);
void tune_watch_handler(struct tune_state* state);
void tune_drop_handler(struct tune_state* state);
/// Gives a shadow an error handler, for errors of the program's own calls.
void tune_give_handler(const struct tune_state* state, MPI_Comm shadow);
/// The communicator then returns errors. Only tune_tell_error, which may not return, calls the program's own handler.
void tune_keep_errors(const struct tune_state* state);
void tune_tell_error(const struct tune_state* state, int keeps, int error);
static inline int tune_keeps_errors(const struct tune_state* state) {
  if (__builtin_expect(!state->has_handler, 1)) return 0;
  tune_keep_errors(state);
  return 1;
}
extern struct tune_state* tune_states;

/// The communicator in which this algorithm runs. Collective if a shadow must be made.
MPI_Comm tune_shadow(struct tune_state* state, unsigned algorithm);

static inline unsigned tune_class(uint64_t bytes) {
  const unsigned class = bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes);
  return class < tune_classes ? class : tune_classes - 1;
}
/// Collective. Returns false if all ranks leave the communicator alone from now on.
int tune_agree(struct tune_state* state);
/// The cells of a collective; null if its calls are not tuned. Collective in the first call of the communicator.
struct tune_cell* tune_new_cells(struct tune_state* state, enum tune_what what);
/// The same after the first blocking call; not collective.
struct tune_cell* tune_later_cells(struct tune_state* state, enum tune_what what);
/// The largest memory of a comparison.
int64_t tune_trial_bytes(void);
/// Decides the cells whose nonblocking calls have been compared or watched. Collective.
void tune_settle(struct tune_state* state);
/// The cell of a blocking call. Only in such calls, ranks may wait for each other. Null if the call is not tuned, on
/// every rank.
static inline struct tune_cell* tune_cell(struct tune_state* state, enum tune_what what, uint64_t bytes) {
  struct tune_cell* cells = state->cells[what];
  if (cells == NULL && (cells = tune_new_cells(state, what)) == NULL) return NULL;
  if (__builtin_expect(state->waiting != 0, 0)) tune_settle(state);
  return &cells[tune_class(bytes)];
}
/// A call of the program.
struct tune_call {
  MPI_Comm comm;  // for this call
  unsigned algorithm;
  uint64_t begin_ns;  // 0: it is not timed
  int keeps_errors;
};
/// The next call of a cell, if it is compared or watched.
struct tune_call tune_next_call(struct tune_state* state, enum tune_what what, struct tune_cell* cell);
/// Keeps the time of a call that was timed, and decides if it was the last one.
void tune_note(struct tune_state* state, enum tune_what what, struct tune_cell* cell, uint64_t ns);
static inline struct tune_call tune_begin(struct tune_state* state, enum tune_what what, struct tune_cell* cell) {
  struct tune_call call = {cell->comm, cell->algorithm, 0, 0};
  if (cell->left != 0) --cell->left;
  else call = tune_next_call(state, what, cell);
  if ((tune_sets && call.algorithm != 0) || call.begin_ns != 0) call.keeps_errors = tune_keeps_errors(state);
  if (tune_sets && call.algorithm != 0) tune_set(what, call.algorithm);
  if (call.begin_ns != 0) call.begin_ns = probe_nanoseconds();
  return call;
}
/// To be called last, because it may not return.
static inline void tune_end(struct tune_state* state, enum tune_what what, struct tune_cell* cell,
                            struct tune_call* call, int error) {
  const uint64_t ns = call->begin_ns != 0 ? probe_nanoseconds() - call->begin_ns : 0;
  if (tune_sets && call->algorithm != 0) tune_set(what, 0);
  if (call->begin_ns != 0) tune_note(state, what, cell, ns);
  const int came_back = call->keeps_errors || (state->has_handler && call->comm != state->comm);
  if (__builtin_expect(call->keeps_errors || (error != MPI_SUCCESS && came_back), 0))
    tune_tell_error(state, call->keeps_errors, error);
}

/// Begins after a comparison. is_other: it changed the choice.
void tune_begin_watch(struct tune_watch* watch, int is_other);
/// Keeps the time of a call.
void tune_watch(struct tune_watch* watch, uint64_t ns);
static inline int tune_window_is_full(const struct tune_watch* watch) { return watch->calls == tune_window; }
/// The duration of this window on this rank; -1 if the times of most calls are not known.
int64_t tune_duration(const struct tune_watch* watch);
/// Whether the durations have drifted, so that algorithms must be compared again. Begins the next window. ns: duration
/// of this window, as the mean of the ranks; negative if one rank does not know it.
int tune_has_drifted(struct tune_watch* watch, float ns);

/// Whether this MPI lets the tuner choose algorithms of this collective.
int tune_has_choices(enum tune_what what);
/// Whether it has algorithms to choose from. The user may have chosen one.
int tune_is_tunable(enum tune_what what);
/// Whether the MPI and the settings leave a choice for nonblocking collectives.
int tune_has_nonblocking(void);
/// The cell of a nonblocking call. No rank waits for another one here. Null if the call is not tuned, on every rank.
struct tune_cell* tune_nonblocking_cell(struct tune_state* state, enum tune_what what, uint64_t bytes);
/// The place for the time of a call, if it counts. is_lost: set if the time is not known.
struct tune_place {
  double* ns;
  int* is_lost;
  int is_watched;  // the time is for the cell's watch
};
/// The algorithm of the next nonblocking call of a cell, if it is compared or watched.
unsigned tune_next_nonblocking(struct tune_state* state, enum tune_what what, struct tune_cell* cell,
                               struct tune_place* place);
/// A request that is timed: the time in the function that starts it, and in those that wait for it or test it. Between
/// them, the program does something else.
struct tune_sample {
  MPI_Request request;
  struct tune_cell* cell;  // null: free
  const struct tune_state* state;
  struct tune_place place;
  uint64_t ns;
  int is_under_way;
  unsigned number;  // of the sample since the beginning
};
/// A nonblocking call of the program.
struct tune_later {
  unsigned algorithm;
  struct tune_sample* sample;  // null: it is not timed
  uint64_t begin_ns;
  int keeps_errors;
};
struct tune_later tune_start(struct tune_state* state, enum tune_what what, struct tune_cell* cell);
/// To be called last, because it may not return.
void tune_started(const struct tune_state* state, enum tune_what what, struct tune_later* call, int error,
                  const MPI_Request* request);
/// Number of requests that are timed.
extern unsigned tune_under_way;
/// A function of the program has received or returned this handle. A sample with this handle has then ended without the
/// tuner.
void tune_forget_request(const MPI_Request* request);
static inline int tune_passed(int error, const MPI_Request* request) {
  if (__builtin_expect(tune_under_way != 0, 0) && error == MPI_SUCCESS) tune_forget_request(request);
  return error;
}
/// The samples at a function that completes requests, or only looks at them. Such functions may call each other.
struct tune_wait {
  uint64_t begin_ns;
  int positions[tune_most_samples];  // of samples in the array of requests; -1: not there
  unsigned numbers[tune_most_samples];
};
void tune_before_wait(struct tune_wait* wait, int count, const MPI_Request requests[]);
void tune_after_wait(const struct tune_wait* wait, const MPI_Request requests[]);
/// Drops the samples of this communicator, and those of this cell.
void tune_forget_samples(const struct tune_state* state, const struct tune_cell* cell);
/// The algorithm of a persistent request, which keeps it. This function may wait for other ranks. The choice comes from
/// earlier nonblocking calls or from the file.
unsigned tune_algorithm_to_keep(struct tune_state* state, enum tune_what what, uint64_t bytes);

/// Finishes the requests of the tuner itself, before a communicator or MPI ends.
void tune_finish_sums(struct tune_state* state);

/// Whether reductions with this operator are left alone, because the order of its operands matters.
int tune_leaves(MPI_Op op);

/// To be called around functions of the program that make a communicator.
void tune_begin_making(void);
void tune_end_making(void);
/// A function of the program has begun to make a communicator, which MPI makes in a later call.
void tune_makes_later(void);
/// The result of `make`, which runs while no thread of any rank makes another communicator. The communicator itself if
/// this is not possible. Collective.
MPI_Comm tune_made_alone(const struct tune_state* state, unsigned algorithm,
                         MPI_Comm (*make)(const struct tune_state*, unsigned));

/// The choices for a communicator, at its rank 0: for each cell an algorithm, tune_open or tune_pass.
enum { tune_open = 255, tune_pass = 254 };
/// Collective.
void tune_begin_file(const char* library_version);
void tune_read_file(void);
void tune_choices_for(const struct tune_state* state, struct tune_agreed* agreed);
/// Call it before MPI_Finalize. Collective.
void tune_write_file(void);

/// Whether the settings choose the communicator with this name.
int tune_is_chosen(const char* name);
/// Says on rank 0 which of the chosen names no communicator had. Collective.
void tune_say_unmatched(void);
/// Number of communicators that were left alone because the memory was used up. Only rank 0 of a communicator counts
/// it.
extern unsigned tune_left_out;
/// The collectives that the program called and for which there is no choice here: a bit for each, and then a bit for
/// each persistent one, in the order of the blocking ones.
extern uint64_t tune_without_choice[2];
void tune_note_no_choice(enum tune_what what);
void tune_note_no_choice_if_persistent(enum tune_what nonblocking);
/// Keeps the choices of a communicator for the file.
void tune_keep(const struct tune_state* state, int has_ended);
/// One sentence to the standard error.
void tune_say(const char* format, ...) __attribute__((format(printf, 1, 2)));
