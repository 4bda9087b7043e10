// The functions that the wrappers call. None of them prints, allocates after MPI_Init, or changes what the program
// sees.
#pragma once
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "mpiprobe/layout.h"
#include "mpiprobe/mpi.h"

extern const char* const probe_rows[];  // of the profile
extern const unsigned probe_row_count;
extern const uint8_t probe_row_kinds[];
extern const char* const probe_symbols[];  // of functions, also of those that share a row with another
extern void* probe_real[];
/// The stack address of this thread in its outermost wrapper; 0 if it is in none. MPI's own calls of MPI do not count.
/// A call from a higher address counts, because longjmp or an exception has then left the wrapper.
extern __thread uintptr_t probe_inside;
extern int probe_invariant;               // the processor counts at a constant rate
extern struct probe_file* probe_profile;  // null: nothing is recorded

static inline uint64_t probe_ticks(void) {
#if defined(__x86_64__)
  if (probe_invariant) return __rdtsc();
#endif
  return probe_nanoseconds();
}

static inline void* probe_function(unsigned number) {
  void* real = __atomic_load_n(&probe_real[number], __ATOMIC_RELAXED);
  if (real != 0) return real;
  real = probe_find(probe_symbols[number]);
  __atomic_store_n(&probe_real[number], real, __ATOMIC_RELAXED);
  return real;
}

/// Which world this process belongs to; see probe_header.
uint64_t probe_world_name(void);

/// The ranks of a session, which has no communicator for them.
struct probe_world {
  int rank, size;
};
/// of_session: null if the program has called MPI_Init.
void probe_begin_communicators(const struct probe_world* of_session);
/// The program has called MPI_Init after the profile began.
void probe_found_world(void);
MPI_Comm probe_world_communicator(void);
/// The ranks of the world, by which groups of ranks are named; null if they are not known. They are not used (use: 0)
/// if the program has begun MPI more than once, because MPI forbids to compare such groups. The function frees the
/// group at once or later.
void probe_set_world_group(const MPI_Group* group, int use);

/// The number of a communicator, window or file in the profile; the last number stands for those without room.
unsigned probe_communicator(MPI_Comm communicator);
unsigned probe_window(MPI_Win window);
unsigned probe_file(MPI_File file);
/// The handle was freed.
void probe_gone(uint64_t handle);
/// colour: -1 if there is none.
void probe_created(unsigned parent, MPI_Comm made, const char* how, int colour);
/// The same for a communicator that only the members of a group make.
void probe_created_group(unsigned parent, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm made);
/// A communicator that was made of one group, or of two, with this tag of the program. remote: null for one group.
void probe_created_of_group(MPI_Comm made, const char* how, const char* tag, MPI_Group group, const MPI_Group* remote);
/// A communicator between two groups.
void probe_created_between(unsigned parent, MPI_Comm made);
void probe_duplicated(unsigned parent, MPI_Comm made);
/// The communicator with the program that spawned this one. The program may ask for it more than once.
void probe_found_parent(MPI_Comm parent);
void probe_made_window(unsigned parent, MPI_Win made);
void probe_opened(unsigned parent, MPI_File made, const char* name, MPI_Info info);

/// Ranks that a collective function sends to.
struct probe_ranks {
  uint64_t count;
  uint64_t absent;  ///< a bit for each of the first 64 that does not exist
};
struct probe_ranks probe_group(unsigned communicator);
/// The ranks of the caller's group, also with an intercommunicator.
struct probe_ranks probe_local_group(unsigned communicator);
struct probe_ranks probe_neighbours(unsigned number, MPI_Comm communicator);
/// The number of ranks that a function of the neighbours receives from, with those that do not exist.
uint64_t probe_source_count(MPI_Comm communicator);
int probe_group_rank(unsigned communicator);
/// The program has given hints for this file.
void probe_hinted(unsigned file, MPI_Info info);

static inline int probe_is_absent(const struct probe_ranks* ranks, uint64_t k) {
  return k < 64 && (ranks->absent >> k & 1) != 0;
}
static inline uint64_t probe_number(struct probe_ranks ranks) {
  return ranks.count - (uint64_t)__builtin_popcountll(ranks.absent);
}
/// Sums over these ranks. Large counts are of another type.
#define PROBE_SUM(name, type)                                                 \
  static inline uint64_t name(const type* counts, struct probe_ranks ranks) { \
    uint64_t sum = 0;                                                         \
    for (uint64_t k = 0; k < ranks.count; ++k) {                              \
      if (!probe_is_absent(&ranks, k)) sum += (uint64_t)counts[k];            \
    }                                                                         \
    return sum;                                                               \
  }
#define PROBE_TYPED_SUM(name, type)                                                                            \
  static inline uint64_t name(const type* counts, const MPI_Datatype* types, struct probe_ranks ranks) {       \
    uint64_t sum = 0;                                                                                          \
    for (uint64_t k = 0; k < ranks.count; ++k) {                                                               \
      if (!probe_is_absent(&ranks, k) && counts[k] != 0) sum += (uint64_t)counts[k] * probe_size_of(types[k]); \
    }                                                                                                          \
    return sum;                                                                                                \
  }
PROBE_SUM(probe_sum_of, int)
PROBE_SUM(probe_large_sum_of, MPI_Count)
PROBE_TYPED_SUM(probe_typed_sum_of, int)
PROBE_TYPED_SUM(probe_large_typed_sum_of, MPI_Count)
#define probe_sum(counts, ranks) \
  _Generic((counts)[0], int: probe_sum_of, MPI_Count: probe_large_sum_of)((const void*)(counts), ranks)
#define probe_typed_sum(counts, types, ranks)                                                                       \
  _Generic((counts)[0], int: probe_typed_sum_of, MPI_Count: probe_large_typed_sum_of)((const void*)(counts), types, \
                                                                                      ranks)

/// -1 for MPI_PROC_NULL and MPI_ROOT, -2 for MPI_ANY_SOURCE, whatever their values.
static inline int probe_peer(int rank) {
  return rank == MPI_PROC_NULL || rank == MPI_ROOT ? -1 : rank == MPI_ANY_SOURCE ? -2 : rank;
}
/// The entry of such calls, or of all calls of the function without room; null if nothing is recorded.
struct probe_entry* probe_entry(unsigned function, unsigned communicator, uint64_t bytes, int peer);
/// The same after a call. begin, end: its ticks.
struct probe_entry* probe_record(unsigned function, unsigned communicator, uint64_t bytes, int peer, uint64_t begin,
                                 uint64_t end);

extern int probe_several_threads;  // may call MPI at a time
static inline void probe_add(uint64_t* to, uint64_t more) {
  if (more == 0) return;
  if (probe_several_threads) __atomic_fetch_add(to, more, __ATOMIC_RELAXED);
  else *to += more;
}

/// Several threads may call MPI at a time from now on.
void probe_begin_threads(void);
/// Call this before the first call of this thread is recorded. begin: the ticks at which that call began.
void probe_count_thread(uint64_t begin);

void probe_begin_timeline(void);
void probe_add_time(unsigned kind, uint64_t begin, uint64_t end);
/// Makes the bins so wide that this time is in one.
uint32_t probe_reach(uint64_t since_start);

/// The resources that the process has used so far.
struct probe_use {
  uint64_t cpu_ns, preempted, memory_kib, instructions, cycles, scalars, vectors, memory_cycles;
};
void probe_begin_counters(void);
struct probe_use probe_used(void);

/// One call in this number of calls is a sample: before MPI's own function, it waits for the other ranks and measures
/// this wait. 0: no samples.
extern unsigned probe_period;
#define probe_no_sample UINT64_MAX
void probe_begin_samples(void);
/// The ticks until the ranks whose data this rank needs have made this call. These are all ranks of the communicator,
/// the root, all ranks if this rank is the root, the ranks with lower numbers, or the neighbours. The last function
/// waits until the sender has begun to send. The result is probe_no_sample if the call is no sample. The same calls of
/// all ranks are samples.
uint64_t probe_wait_for_all(MPI_Comm communicator);
uint64_t probe_wait_for_root(int root, MPI_Comm communicator);
uint64_t probe_wait_at_root(int root, MPI_Comm communicator);
uint64_t probe_wait_for_lower(MPI_Comm communicator);
uint64_t probe_wait_for_neighbours(MPI_Comm communicator);
uint64_t probe_wait_for_sender(int source, int tag, MPI_Comm communicator);
/// ticks: of the whole call.
static inline void probe_sampled(struct probe_entry* entry, uint64_t waited, uint64_t ticks) {
  if (waited == probe_no_sample || entry == NULL) return;
  probe_add(&entry->sampled, 1);
  probe_add(&entry->sampled_ticks, ticks);
  probe_add(&entry->waited_ticks, waited);
}

/// Samples of messages, if probe_period is not 0; see probe_message. begin: the ticks at which the call began.
void probe_sent(unsigned communicator, int dest, int tag, uint64_t begin);
/// Counts a receive. If it is sampled and has an entry, the result is the number of its message, from 1; otherwise 0.
uint32_t probe_received(unsigned communicator, int source, int tag, const struct probe_entry* entry);
/// After a call that also sent a message.
void probe_exchanged(unsigned communicator, int source, int tag, const struct probe_entry* entry, uint64_t begin,
                     uint64_t end);
/// The last started request is a collective function, which needs data of these ranks of the communicator: all, the
/// root, all if this rank is the root, or those with lower numbers.
enum { probe_needs_all = 1, probe_needs_root, probe_needs_at_root, probe_needs_lower, probe_needs_end = 8 };
void probe_joins(MPI_Request request, unsigned communicator, int needs, int root, const struct probe_entry* entry,
                 uint64_t begin);
/// The needs of a persistent collective, with the number of its request on this communicator, because ranks may start
/// persistent requests in any order: needs + number * probe_needs_end. 0: it is not sampled.
int probe_persistent(unsigned communicator, int needs);
/// Counts such a call. If it is sampled and has an entry, the result is the number of its message, from 1; otherwise 0.
/// needs: also the result of probe_persistent.
uint32_t probe_joined(unsigned communicator, int needs, int root, const struct probe_entry* entry, uint64_t begin);
/// From now on it is not known which messages arrive where.
void probe_lost(void);
/// A wait for this message. share: its part of the time.
void probe_waited(uint32_t number, uint64_t begin, uint64_t end, uint64_t share, int ended);

void probe_begin_requests(void);
/// The last started request receives this message.
void probe_expects(MPI_Request request, unsigned communicator, int source, int tag, const struct probe_entry* entry);
/// The prepared request sends to this rank, or receives from it.
void probe_prepared_message(MPI_Request request, int sends, unsigned communicator, int peer, int tag);
/// The prepared request is a collective function; see probe_joins.
void probe_prepared_collective(MPI_Request request, unsigned communicator, int needs, int root);
/// The function of this entry started the request.
void probe_started(MPI_Request request, struct probe_entry* entry);
/// The request waits for MPI_Start. Its starts count in this row. parts: number of parts of a partitioned request,
/// whose bytes count when the parts are ready; 0: the bytes count at the start.
void probe_prepared(MPI_Request request, unsigned row, unsigned communicator, uint64_t bytes, int parts, int peer);
/// After a call that started these. Its time counts for them in equal parts.
void probe_run(int count, const MPI_Request* handles, uint64_t ticks, struct probe_entry* start);
/// This number of parts of the request are ready. The time of this call counts for the function that prepared the
/// request.
void probe_ready(MPI_Request request, int parts, uint64_t ticks, struct probe_entry* ready);
/// A call that changes none of these. Its time counts for the functions that started them, in equal parts.
void probe_looked(int count, const MPI_Request* handles, uint64_t ticks, struct probe_entry* look);
void probe_freed(MPI_Request request);

/// The requests of a wait or a test.
struct probe_waits {
  uint32_t first;
  unsigned known, complete, unknown;
};
/// Before the call, because it overwrites the handles.
struct probe_waits probe_take(int count, const MPI_Request* handles);
/// After the call, which began and ended at these ticks. Its time counts for the requests that ended, or for all if
/// none has ended, in equal parts. ended: the number of requests that ended; -1: all. which: their places among the
/// handles.
void probe_charge(const struct probe_waits* waits, const MPI_Request* handles, int ended, const int* which,
                  uint64_t begin, uint64_t end, struct probe_entry* wait);
