// A library to preload that buffers the reads and writes of a program. See docs/howto/buffered-io.md.
//
// The inode is what is buffered: all descriptors of a process that lead to it share its buffers. A buffer holds one
// range of valid bytes of one block, and in it one range of bytes that the program has written and the system does not
// know yet. No byte that the program did not write is ever written.
//
// Locks are taken in this order: the table, a file, the queue.
#pragma once
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#define IOBUF_PUBLIC __attribute__((visibility("default")))
/// The function that the program would call without this library.
#define REAL(name)                                                 \
  ({                                                               \
    static void* _Atomic at;                                       \
    void* found = atomic_load_explicit(&at, memory_order_relaxed); \
    if (found == NULL) {                                           \
      found = dlsym(RTLD_NEXT, #name);                             \
      atomic_store_explicit(&at, found, memory_order_relaxed);     \
    }                                                              \
    (__typeof__(&name))found;                                      \
  })

enum {
  iobuf_most_fds = 65536,
  iobuf_most_files = 16384,
  iobuf_most_descriptions = 65536,
  iobuf_most_buffers = 64,
  iobuf_least_bytes = 4096,
};

/// Why a file is not buffered; 0: it is.
enum iobuf_reason {
  iobuf_buffered,
  iobuf_by_pattern,
  iobuf_by_flags,   // O_DIRECT, O_SYNC, O_DSYNC
  iobuf_by_stream,  // fopen, fdopen
  iobuf_by_mapping,
  iobuf_by_lock,
  iobuf_by_process,  // fork, exec, posix_spawn, or it was open before
  iobuf_by_other,    // asynchronous I/O, file descriptors in messages, the tables are full, the end of the program
  iobuf_reasons
};
extern const char* const iobuf_reason_names[iobuf_reasons];

/// Of the files that a pattern names.
struct iobuf_settings {
  size_t bytes;      // of a buffer: a power of two
  unsigned shift;    // its logarithm
  size_t large;      // calls of at least this size, or of half a buffer, go straight to the file
  unsigned buffers;  // of a file
  unsigned ahead;    // blocks to read ahead
  unsigned behind;   // full buffers that may wait to be written; 0: the program writes them itself
};
static inline int iobuf_is_large(const struct iobuf_settings* with, size_t n) {
  return n >= with->large || n >= with->bytes / 2;
}
/// null: files of this name are not buffered.
const struct iobuf_settings* iobuf_settings_of(int fd, const char* path);
void iobuf_read_settings(void);
extern size_t iobuf_memory;      // for all buffers, in bytes
extern unsigned iobuf_delay_ms;  // after which a written byte goes to the system at the latest

enum iobuf_state { iobuf_idle, iobuf_queued, iobuf_running };  // of the job of a buffer
struct iobuf_buffer {
  struct iobuf_file* file;
  char* data;                     // null: it has no memory yet
  int64_t block;                  // -1: none
  size_t low, high;               // valid bytes
  size_t dirty_low, dirty_high;   // not yet written; equal: none
  uint64_t dirty_ms;              // since when
  uint64_t used, since;           // larger: later; since: dirty
  uint8_t state, fills, discard;  // fills: its job reads; discard: what it reads is outdated
  uint8_t listed;                 // in the queue
  struct iobuf_buffer* next;
};

struct iobuf_counts {
  uint64_t reads, read_bytes, system_reads;
  uint64_t writes, written_bytes, system_writes;
  uint64_t errors, untold;  // writes that failed; and those of which no call has told the program
};

struct iobuf_description;
struct iobuf_file {
  pthread_mutex_t lock;
  pthread_cond_t changed;      // the state of a buffer
  const void* _Atomic holder;  // of the lock: iobuf_this_thread; null: nobody, or it is not known yet
  dev_t dev;
  ino_t ino;
  atomic_int aside;   // enum iobuf_reason
  atomic_uint dirty;  // buffers
  int live;
  unsigned maps;     // of the program; it stays aside meanwhile
  int remote;        // on a network file system
  unsigned waiting;  // threads that wait for an offset, or for a pause
  unsigned pauses;   // threads that need a pause: no call that uses an offset or writes begins
  unsigned writing;  // calls that write; the file may be unlocked meanwhile
  struct iobuf_settings with;
  struct iobuf_buffer* buffers;  // iobuf_most_buffers; null: not needed yet
  unsigned has;                  // of them with memory
  unsigned queued;               // jobs that write
  unsigned direct;               // large writes that take place; nothing is read into buffers meanwhile
  uint64_t clock;
  atomic_int error;                  // of a write in the background, for the next call that may report it
  unsigned failed;                   // writes since this error
  struct timespec modified, status;  // of the file when the clean bytes were read
  off_t size;
  uint64_t checked_ms;  // 0: never
  unsigned epoch;
  struct iobuf_counts counts;
  struct iobuf_description* descriptions;
  struct iobuf_file* next;  // in its chain, or among the free ones
};
/// An open file description of POSIX: descriptors that dup made share it.
struct iobuf_description {
  struct iobuf_file* file;
  off_t offset;
  int fd;  // one of its descriptors
  unsigned descriptors;
  int reads, writes, appends;
  int busy;              // a call uses the offset; others wait until it has moved it
  int foreign;           // the offset of the system is the right one: others may share it, and move it now
  off_t expected;        // where the next read begins if the program reads in sequence
  unsigned in_sequence;  // small reads before the one that begins there
  size_t run;            // the bytes of most of them
  int64_t read_block;    // the last one for which blocks were read ahead
  struct iobuf_description* next;
};

extern _Atomic(struct iobuf_description*) iobuf_slots[iobuf_most_fds];
extern struct iobuf_file iobuf_files[iobuf_most_files];
extern atomic_uint iobuf_files_used;  // all beyond them were never used
extern atomic_uint iobuf_dirty_files;
extern atomic_uint iobuf_epoch;  // rises when another process may have told this one about its writes
extern atomic_int iobuf_off;
extern atomic_int iobuf_stopped;  // new files are not buffered
extern __thread int iobuf_inside __attribute__((tls_model("initial-exec")));

// numbers.c
enum {
  iobuf_number_size,
  iobuf_number_large,
  iobuf_number_buffers,
  iobuf_number_read_ahead,
  iobuf_number_write_behind,
  iobuf_numbers_of_rules,
  iobuf_number_memory = iobuf_numbers_of_rules,
  iobuf_number_delay_ms,
  iobuf_numbers
};
struct iobuf_limits {
  const char *name, *variable, *allowed;
  uint64_t least, most;
  int is_size;  // a unit may follow
};
extern const struct iobuf_limits iobuf_limits[iobuf_numbers];
/// 0: the text is wrong, and the value unchanged.
int iobuf_read_number(const struct iobuf_limits* limits, const char* text, uint64_t* value);
/// One sentence on stderr. Of the ranks of MPI, only rank 0 prints it.
void iobuf_complain(const char* format, ...) __attribute__((format(printf, 1, 2)));

// table.c
/// The description, with its file locked; null: the call must pass. Keep the file: iobuf_unlock ends it.
struct iobuf_description* iobuf_enter(int fd);
/// Also keeps its offset from other threads, while the file is unlocked, too. iobuf_leave_offset ends both.
struct iobuf_description* iobuf_enter_offset(int fd);
void iobuf_leave_offset(struct iobuf_description* d);
/// The call of this thread that uses an offset. A signal handler that ends the program completes the piece.
struct iobuf_call {
  struct iobuf_description* d;  // null: there is none
  off_t reached;                // where its offset is when the last piece has been written
  const char* _Atomic from;     // the piece that is being written; null: there is none
  off_t at;
  size_t n;
};
extern __thread struct iobuf_call iobuf_call __attribute__((tls_model("initial-exec")));
static inline void iobuf_begin_piece(const struct iobuf_description* d, const char* from, size_t n, off_t at) {
  if (iobuf_call.d != d) return;
  iobuf_call.at = at, iobuf_call.n = n;
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&iobuf_call.from, from, memory_order_relaxed);
  atomic_signal_fence(memory_order_seq_cst);
}
static inline void iobuf_end_piece(const struct iobuf_description* d, size_t n) {
  if (iobuf_call.d != d) return;
  atomic_signal_fence(memory_order_seq_cst);
  iobuf_call.reached = iobuf_call.at + (off_t)n;
  atomic_signal_fence(memory_order_seq_cst);
  atomic_store_explicit(&iobuf_call.from, NULL, memory_order_relaxed);
}
/// For a write at a given place: as iobuf_enter, but waits for the end of a pause.
struct iobuf_description* iobuf_enter_place(int fd);
/// From the end of the first one to the second one, no call uses an offset of the file, no call writes, and nothing is
/// in its buffers. The file is locked.
void iobuf_begin_pause(struct iobuf_file* file);
void iobuf_end_pause(struct iobuf_file* file);
void iobuf_lock(struct iobuf_file* file);
/// 0: another thread, or the call that a signal handler has interrupted, has locked it.
int iobuf_try_lock(struct iobuf_file* file);
/// The same, but waits for other threads. 0: this thread has locked it, or another one that waits for this one.
int iobuf_lock_soon(struct iobuf_file* file);
/// Waits with the file unlocked.
void iobuf_wait(struct iobuf_file* file);
/// The same until a call ends, or a pause.
void iobuf_wait_for_change(struct iobuf_file* file);
static inline const void* iobuf_this_thread(void) { return &iobuf_inside; }
void iobuf_unlock(struct iobuf_file* file);
/// A new descriptor, -1 too, which is returned; errno is kept. reason: why not to buffer it, or 0.
int iobuf_opened(int fd, const char* path, enum iobuf_reason reason);
/// Those that the process has at its begin.
void iobuf_add_open_descriptors(void);
/// Before a descriptor is closed by a call that can tell an error. Returns the error of an earlier write, or 0.
int iobuf_forget(int fd);
/// The same for a call that can tell none.
void iobuf_forget_silently(int fd);
/// The second descriptor is a copy of the first.
void iobuf_copied(int fd, int copy);
/// The file is locked then. null: it is not open.
struct iobuf_file* iobuf_find(const struct stat* st);
void iobuf_step_aside(struct iobuf_file* file, enum iobuf_reason reason);
/// The system gets the offsets, and all later calls. Nothing is in the buffers of the file.
void iobuf_leave_to_system(struct iobuf_file* file, enum iobuf_reason reason);
void iobuf_step_aside_fd(int fd, enum iobuf_reason reason);
void iobuf_step_all_aside(enum iobuf_reason reason);
void iobuf_lock_all(void);
void iobuf_unlock_all(int in_child);
void iobuf_reset_locks(struct iobuf_file* file);
void iobuf_reset_table_lock(void);
/// A mapping of a file begins, or ends.
void iobuf_mapped(int fd, void* at, size_t bytes);
int iobuf_unmap(void* at, size_t bytes, int (*unmap)(void*, size_t));

/// A thread that is cancelled in a call of the C library would keep a lock. Returns the state before.
static inline int iobuf_begin_uncancelled(void) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}
static inline void iobuf_end_uncancelled(int before) { pthread_setcancelstate(before, NULL); }

// reads.c
ssize_t iobuf_read(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at);

// buffers.c
ssize_t iobuf_write(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at);
/// All that was written goes to the system. The file is locked.
void iobuf_flush(struct iobuf_file* file);
/// Nothing remains in its buffers. The file is locked.
void iobuf_drop(struct iobuf_file* file);
/// Also gives their memory back.
void iobuf_release(struct iobuf_file* file);
/// 0, or -1 with errno if an earlier write failed. The file is locked.
int iobuf_report_error(struct iobuf_file* file);
/// The error, or 0; the call that asks tells the program.
int iobuf_take_error(struct iobuf_file* file);
/// The dirty bytes of all buffers, past their jobs: for a thread that can wait for nothing.
void iobuf_write_dirty(struct iobuf_file* file);
/// The same for a descriptor whose file has stepped aside since then.
int iobuf_report_late_error(int fd);
/// Where the bytes end that the system does not know; 0: there are none.
off_t iobuf_dirty_end(const struct iobuf_file* file);
/// All files: before others can look.
void iobuf_publish(void);
/// Before a descriptor goes, and with it perhaps a lock.
extern atomic_int iobuf_locks;  // the program has locked a file
static inline void iobuf_publish_under_lock(void) {
  if (iobuf_locks) iobuf_publish();
}
/// Others may have written.
static inline void iobuf_heard(void) { atomic_fetch_add_explicit(&iobuf_epoch, 1, memory_order_relaxed); }

// jobs.c
/// Both with the file locked. A buffer that waits in the queue can be taken out of it at any time: its state decides.
int iobuf_enqueue(struct iobuf_buffer* buffer);
void iobuf_await(struct iobuf_buffer* buffer);
void iobuf_begin_jobs(void);
/// 0: no thread can be started. Then the program writes its bytes itself, at once.
int iobuf_has_jobs(void);
void iobuf_lock_jobs(void);
void iobuf_unlock_jobs(int in_child);
/// Writes the dirty bytes of a buffer, from which thread ever; 0 or errno.
int iobuf_write_out(int fd, const struct iobuf_buffer* buffer, uint64_t* calls);
/// The bytes of the block from one place to another one. Fewer: the file ends there.
ssize_t iobuf_fill(int fd, struct iobuf_buffer* buffer, size_t from, size_t to);
void iobuf_written(struct iobuf_buffer* buffer, int error);
int iobuf_writer(const struct iobuf_file* file);
int iobuf_reader(const struct iobuf_file* file);

// memory.c
char* iobuf_take_memory(size_t bytes);
void iobuf_give_memory(char* data, size_t bytes);
void iobuf_reset_memory_lock(void);
size_t iobuf_memory_peak(void);

// report.c
void iobuf_count_file(struct iobuf_file* file);
void iobuf_count_aside(enum iobuf_reason reason);
void iobuf_write_report(void);
/// One sentence on stderr for each file with an error that no call has told the program.
void iobuf_print_errors(void);
/// The same for one file that is locked. fd: leads to it, or -1.
void iobuf_print_error(struct iobuf_file* file, int fd);
extern atomic_int iobuf_no_stderr;  // descriptor 2 is a file of the program

// deferred.c
extern __thread int iobuf_waiting __attribute__((tls_model("initial-exec")));
/// Whether a call of a signal handler must wait until the interrupted one has left this library.
int iobuf_must_wait(int fd);
ssize_t iobuf_write_later(int fd, const struct iovec* parts, int count, off_t at);
int iobuf_close_later(int fd);
void iobuf_run_waiting(void);
void iobuf_forget_waiting(void);
static inline void iobuf_leave(void) {
  atomic_signal_fence(memory_order_seq_cst);
  --iobuf_inside;
  atomic_signal_fence(memory_order_seq_cst);
  if (__builtin_expect(iobuf_waiting > 0 && iobuf_inside == 0, 0)) iobuf_run_waiting();
}

// owner.c
extern int* iobuf_is_owner;
void iobuf_begin_owner(void);
void iobuf_become_owner(void);
static inline void iobuf_check_owner(void) {
  if (__builtin_expect(!*iobuf_is_owner, 0)) iobuf_become_owner();
}

// files.c
void iobuf_begin_mappings(void);

// process.c
void iobuf_before_fork(void);
void iobuf_after_fork(int in_child);
void iobuf_begin_child(void);
/// Before all else. Only the first call does something.
void iobuf_begin(void);
/// Nothing is buffered from now on.
void iobuf_end(void);
/// The same in a signal handler that has interrupted this library. The files stay locked.
void iobuf_end_inside(void);
/// For a descriptor that is not in the table: its call may tell others, or hear of them.
void iobuf_told(int fd);

uint64_t iobuf_now_ms(void);
/// Files of a special file system are made when they are read, or are no files at all. Remote: other machines write,
/// and the times of files are not a proof that none has.
enum iobuf_kind { iobuf_local, iobuf_remote, iobuf_special };
enum iobuf_kind iobuf_kind_of(int fd, dev_t dev);
// Past all libraries, and no points at which a thread can be cancelled.
ssize_t iobuf_sys_pread(int fd, void* to, size_t n, off_t at);
ssize_t iobuf_sys_pwrite(int fd, const void* from, size_t n, off_t at);
off_t iobuf_sys_lseek(int fd, off_t at, int whence);
int iobuf_sys_stat(int folder, const char* path, struct stat* st, int flags);
int iobuf_sys_fstat(int fd, struct stat* st);
/// Whether it is a pipe, a socket or a device: others learn something through it.
int iobuf_is_message(int fd);
void iobuf_forget_kind(int fd);
/// A child counts from 0.
void iobuf_reset_counts(void);
