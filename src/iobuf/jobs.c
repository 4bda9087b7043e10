// The thread in the background: it writes full buffers, reads ahead, and writes what has waited for too long.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

enum { stack_bytes = 256 << 10, idle_rounds = 10, most_idle_ms = 50 };

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work;
static struct iobuf_buffer *first, *last;
static int has_clock;       // the condition has the right one
static atomic_int started;  // -1: it cannot start

int iobuf_writer(const struct iobuf_file* file) {
  for (const struct iobuf_description* d = file->descriptions; d != NULL; d = d->next) {
    if (d->writes && !d->appends) return d->fd;  // Linux appends whatever the offset is
  }
  return -1;
}

int iobuf_reader(const struct iobuf_file* file) {
  for (const struct iobuf_description* d = file->descriptions; d != NULL; d = d->next) {
    if (d->reads) return d->fd;
  }
  return -1;
}

static off_t place_of(const struct iobuf_buffer* buffer, size_t at) {
  return (off_t)((uint64_t)buffer->block << buffer->file->with.shift) + (off_t)at;
}

/// A descriptor that was closed in other ways leads to another file by now.
static int leads_to(int fd, const struct iobuf_file* file) {
  struct stat st;
  return iobuf_sys_fstat(fd, &st) == 0 && st.st_ino == file->ino && st.st_dev == file->dev;
}

int iobuf_write_out(int fd, const struct iobuf_buffer* buffer, uint64_t* calls) {
  if (!leads_to(fd, buffer->file)) return EBADF;
  for (size_t at = buffer->dirty_low; at < buffer->dirty_high;) {
    const ssize_t n = iobuf_sys_pwrite(fd, buffer->data + at, buffer->dirty_high - at, place_of(buffer, at));
    ++*calls;
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) at += (size_t)n;
  }
  return 0;
}

ssize_t iobuf_fill(int fd, struct iobuf_buffer* buffer, size_t from, size_t to) {
  size_t at = from;
  while (at < to) {
    const ssize_t n = iobuf_sys_pread(fd, buffer->data + at, to - at, place_of(buffer, at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && at == from) return -1;
    if (n <= 0) break;
    at += (size_t)n;
  }
  return (ssize_t)(at - from);
}

void iobuf_await(struct iobuf_buffer* buffer) {
  while (buffer->state == iobuf_running) iobuf_wait(buffer->file);
}

/// The file is locked before and after, but not meanwhile.
static void run_job(struct iobuf_buffer* buffer) {
  struct iobuf_file* const file = buffer->file;
  const int fills = buffer->fills, fd = fills ? iobuf_reader(file) : iobuf_writer(file);
  uint64_t calls = 0;
  buffer->state = iobuf_running;
  iobuf_unlock(file);
  ssize_t n = 0;
  if (fills) n = iobuf_fill(fd, buffer, 0, file->with.bytes);
  else n = iobuf_write_out(fd, buffer, &calls);
  if (fills && !leads_to(fd, file)) n = 0;  // it was closed past this library, and is another file now
  iobuf_lock(file);
  buffer->state = iobuf_idle;
  if (!fills) {
    file->counts.system_writes += calls;
    iobuf_written(buffer, (int)n);
  } else {
    ++file->counts.system_reads;
    buffer->high = n > 0 ? (size_t)n : 0;
    if (n <= 0 || buffer->discard) buffer->block = -1, buffer->high = 0;
    buffer->discard = 0;
  }
  pthread_cond_broadcast(&file->changed);
}

static void take_job(struct iobuf_buffer* buffer) {
  struct iobuf_file* const file = buffer->file;
  iobuf_lock(file);
  if (buffer->state == iobuf_queued) {
    if (!buffer->fills) --file->queued;
    run_job(buffer);
  }
  iobuf_unlock(file);
}

static void write_old(void) {
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    struct iobuf_file* const file = &iobuf_files[k];
    if (file->dirty == 0) continue;
    iobuf_lock(file);
    for (unsigned b = 0; b < file->has; ++b) {
      struct iobuf_buffer* const buffer = &file->buffers[b];
      if (buffer->state != iobuf_idle || buffer->dirty_high == buffer->dirty_low) continue;
      // The file was unlocked during the last write: buffers can be younger than the first look.
      if (iobuf_now_ms() - buffer->dirty_ms < iobuf_delay_ms / 2) continue;
      buffer->fills = 0;
      run_job(buffer);
    }
    iobuf_unlock(file);
  }
}

/// Half of the delay: a byte waits for that long, and then for one more round at most.
static unsigned round_ms(void) { return iobuf_delay_ms > 1 ? iobuf_delay_ms / 2 : 1; }

static void wait_for_work(unsigned ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)ms * 1000000;
  until.tv_sec += (time_t)(ns / 1000000000), until.tv_nsec = (long)(ns % 1000000000);
  pthread_cond_timedwait(&work, &queue, &until);
}

static struct iobuf_buffer* take_first(void) {
  struct iobuf_buffer* const buffer = first;
  if (buffer == NULL) return NULL;
  first = buffer->next;
  if (first == NULL) last = NULL;
  buffer->listed = 0;
  return buffer;
}

/// The queue is locked. Whoever makes a byte dirty starts a thread if there is none: one of both sees the other.
static int may_end(void) {
  started = 0;
  if (iobuf_dirty_files == 0) return 1;
  int none = 0;
  return !atomic_compare_exchange_strong(&started, &none, 1);
}

/// It ends if there is nothing to do: a process whose main thread has ended ends with its last thread.
static void* run_jobs(void* nothing) {
  uint64_t looked_ms = iobuf_now_ms();
  pthread_mutex_lock(&queue);
  for (unsigned idle = 0; idle < idle_rounds || !may_end(); ++idle) {
    struct iobuf_buffer* const buffer = take_first();
    if (buffer == NULL) {
      const unsigned ms = round_ms();
      wait_for_work(iobuf_dirty_files == 0 && ms > most_idle_ms ? most_idle_ms : ms);
    }
    if (buffer != NULL || iobuf_dirty_files > 0) idle = 0;
    pthread_mutex_unlock(&queue);
    if (buffer != NULL) take_job(buffer);
    if (iobuf_dirty_files > 0 && (buffer == NULL || iobuf_now_ms() - looked_ms >= round_ms())) {
      looked_ms = iobuf_now_ms();
      write_old();
    }
    pthread_mutex_lock(&queue);
  }
  pthread_mutex_unlock(&queue);
  return nothing;
}

/// A program with many bytes of thread-local data needs a larger stack, which is the usual one.
static int create(size_t bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (bytes > 0) pthread_attr_setstacksize(&attributes, bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const int error = pthread_create(&thread, &attributes, run_jobs, NULL);
  pthread_attr_destroy(&attributes);
  return error == 0;
}

/// Signals are for the threads of the program.
static void start(void) {
  sigset_t all, before;
  pthread_condattr_t clock;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  if (!has_clock) pthread_cond_init(&work, &clock);
  has_clock = 1;
  started = create(stack_bytes) || create(0) ? 1 : -1;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void iobuf_begin_jobs(void) {
  if (started != 0) return;
  pthread_mutex_lock(&queue);
  if (started == 0) start();
  pthread_mutex_unlock(&queue);
}

int iobuf_has_jobs(void) { return started >= 0; }

int iobuf_enqueue(struct iobuf_buffer* buffer) {
  iobuf_begin_jobs();
  if (started < 0) return 0;
  pthread_mutex_lock(&queue);
  buffer->state = iobuf_queued;
  if (!buffer->listed) {
    buffer->listed = 1;
    buffer->next = NULL;
    if (last != NULL) last->next = buffer;
    else first = buffer;
    last = buffer;
  }
  pthread_cond_signal(&work);
  pthread_mutex_unlock(&queue);
  return 1;
}

/// A process lives on without its main thread, and without this one if there is nothing to do.
void pthread_exit(void* result);
IOBUF_PUBLIC void pthread_exit(void* result) {
  const unsigned most_ms = most_idle_ms;
  if (getpid() == (pid_t)syscall(SYS_gettid) && iobuf_delay_ms > most_ms) iobuf_delay_ms = most_ms;
  iobuf_publish();
  pthread_mutex_lock(&queue);
  if (started == 1) pthread_cond_signal(&work);
  pthread_mutex_unlock(&queue);
  REAL(pthread_exit)(result);
  __builtin_unreachable();
}

void iobuf_lock_jobs(void) { pthread_mutex_lock(&queue); }

void iobuf_unlock_jobs(int in_child) {
  if (!in_child) {
    pthread_mutex_unlock(&queue);
    return;
  }
  pthread_mutex_init(&queue, NULL);
  has_clock = 0;
  for (struct iobuf_buffer* b = first; b != NULL; b = b->next) b->listed = 0;
  first = last = NULL;
  started = 0;
  iobuf_reset_memory_lock();
}
