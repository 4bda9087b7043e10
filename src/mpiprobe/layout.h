// The file that a rank of a profiled program leaves: its calls, their number and their time. It is plain data in the
// machine's byte order, for python/culmen/profile/recorded.py.
#pragma once
#include <stdint.h>

enum {
  probe_most_functions = 384,
  probe_most_communicators = 1024,
  probe_further_communicators = probe_most_communicators - 1,  ///< the number of all that had no room
#define PROBE_OTHER_MPI ".other-mpi"  // the same, after the name of an MPI: the process uses this MPI
  probe_no_communicator = probe_most_communicators - 2,  ///< of functions that have none
  probe_most_entries = 8192,
  probe_name_bytes = 48,
  probe_origin_bytes = 176,
  probe_most_hints = 128,
  probe_most_bins = 512,
  probe_most_messages = 1 << 13,
};
#define PROBE_MAGIC UINT64_C(0x61656c69666f7270)  // "profilea"
#define PROBE_NO_ROOM ".no-room"                  // the end of the name of an empty file: the profile had no room

/// The kind of a function. waits: waits for requests or tests requests; communicators: makes or frees communicators.
enum probe_kind {
  probe_kind_messages,
  probe_kind_waits,
  probe_kind_collective,
  probe_kind_one_sided,
  probe_kind_files,
  probe_kind_communicators,
  probe_kinds
};

struct probe_header {
  uint64_t magic;  ///< written last: the file is complete enough to be read
  int32_t rank, size;
  /// Equal for all ranks with the same MPI_COMM_WORLD, and for no others; 0: the launcher does not tell.
  uint64_t world;
  uint64_t begin_unix_ns;  ///< begin_ns by the clock that nodes share
  uint32_t process, functions, communicators, hints;
  uint32_t threads;  ///< largest number of threads that call MPI and existed at the same time; 1 if only one thread may
                     ///< call MPI
  uint32_t period;   ///< one call in this number of calls first waits for the other ranks, see probe_entry; 0: no call
  uint32_t invariant;  ///< 1: ticks are those of the processor's constant counter; 0: nanoseconds
  uint32_t bin_shift;  ///< a bin of the timeline is 2 to this power ticks wide; it grows during the run
  /// Ticks and nanoseconds (CLOCK_MONOTONIC) before MPI_Init, after it and at the beginning of MPI_Finalize; the last
  /// two are 0 if the program did not reach it.
  uint64_t begin_ticks, begin_ns, start_ticks, start_ns, end_ticks, end_ns;
  uint64_t by_session;  ///< 1: MPI began with MPI_Session_init, which stands for MPI_Init above
  uint64_t messages;    ///< sampled; more than probe_most_messages: some had no room
  uint64_t uncharged;   ///< requests that ended in a wait, but whose start is not known
  uint64_t memory_kib;  ///< largest resident set, at MPI_Finalize
  /// From the end of MPI_Init to the beginning of MPI_Finalize, over all threads of the process.
  uint64_t cpu_ns;
  uint64_t preempted;             ///< how often a thread lost its processor to another one
  uint64_t instructions, cycles;  ///< of the program, not of the kernel; 0: there are no such counters here
  /// Floating-point instructions on one number and on vectors, and cycles that waited for loads from memory. 0: see
  /// above.
  uint64_t scalars, vectors, memory_cycles;
  /// Parallel regions of OpenMP that are not within another one. Ticks in them, ticks of all their threads in their
  /// code, and the sum of ticks times threads.
  uint64_t regions, region_ticks, region_work, region_room;
  char host[64], library[128], program[256];
};

/// A communicator, or a window or file of one.
struct probe_communicator {
  int32_t rank, size;
  int32_t remote;  ///< ranks of the other group, if it is an intercommunicator; else 0
  int32_t first;   ///< its rank 0, as a rank of MPI_COMM_WORLD; -1: not known. It tells communicators of one name apart
  char
      origin[probe_origin_bytes];  ///< how it came to be: "world/split 2 colour 1" was the second one made of the world
};

/// The hints that the program gave for a file: "key=value; key=value".
struct probe_hints {
  uint32_t file;  ///< among the communicators
  char text[252];
};

/// Calls of one function with one communicator, size class and peer. All 0: not used. The last entries have the calls
/// of one function for which there was no room; the key is then only 1 + function.
struct probe_entry {
  uint64_t key;  ///< 1 + function | communicator << 16 | size class << 32 | (peer + 2) << 40
  uint64_t calls, bytes, ticks, least_ticks, most_ticks;
  /// Ticks of waits for requests of this function; in the entry of a wait: minus the ticks that count for others.
  uint64_t charged;
  uint64_t completed;  ///< requests of this function that have ended
  /// Calls that first waited for the other ranks, their ticks, and the part of these that was the wait.
  uint64_t sampled, sampled_ticks, waited_ticks;
};

/// A sampled message: one of its communicator, other rank and tag, counted from 0. A sender: when it began to send. A
/// receiver with a request: when the first wait for it began, when the last one ended, and what they are charged. A
/// nonblocking collective has both on each rank. Its peer is the root or -1, and its tag is the negative of
/// probe_needs_… or of probe_persistent().
struct probe_message {
  uint32_t communicator, sends;
  int32_t peer, tag;
  uint32_t number, entry;
  uint64_t first, last, charged;
};

struct probe_file {
  struct probe_header header;
  char names[probe_most_functions][probe_name_bytes];
  struct probe_communicator communicators[probe_most_communicators];
  struct probe_hints hints[probe_most_hints];
  struct probe_entry entries[probe_most_entries + probe_most_functions];
  uint8_t kinds[probe_most_functions];  ///< probe_kind
  /// Ticks in the functions of each kind. Bin 0 begins at start_ticks.
  uint64_t timeline[probe_most_bins][probe_kinds];
  /// For threads that call MPI, if several may do so at a time. The first array has the ticks in a bin of the threads
  /// that come in it, minus those of the threads that go in it. The second one has the number of threads that come,
  /// minus the number of threads that go.
  int64_t thread_ticks[probe_most_bins];
  int32_t thread_changes[probe_most_bins];
  struct probe_message messages[probe_most_messages];
};
