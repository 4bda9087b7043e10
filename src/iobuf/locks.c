// The lock of a file. Calls that use an offset or write are counted, so that a pause can wait until none is under way.
#include <pthread.h>
#include <time.h>

#include "iobuf/iobuf.h"

enum { most_lock_ms = 500 };

static void set_holder(struct iobuf_file* file, const void* thread) {
  atomic_store_explicit(&file->holder, thread, memory_order_relaxed);
}

void iobuf_lock(struct iobuf_file* file) {
  iobuf_check_owner();
  ++iobuf_inside;
  pthread_mutex_lock(&file->lock);
  set_holder(file, iobuf_this_thread());
}

int iobuf_try_lock(struct iobuf_file* file) {
  iobuf_check_owner();
  ++iobuf_inside;
  if (pthread_mutex_trylock(&file->lock) == 0) {
    set_holder(file, iobuf_this_thread());
    return 1;
  }
  --iobuf_inside;
  return 0;
}

void iobuf_unlock(struct iobuf_file* file) {
  set_holder(file, NULL);
  pthread_mutex_unlock(&file->lock);
  iobuf_leave();
}

void iobuf_wait(struct iobuf_file* file) {
  const int before = iobuf_begin_uncancelled();
  set_holder(file, NULL);
  pthread_cond_wait(&file->changed, &file->lock);
  set_holder(file, iobuf_this_thread());
  iobuf_end_uncancelled(before);
}

struct iobuf_description* iobuf_enter(int fd) {
  if ((unsigned)fd >= iobuf_most_fds) return NULL;
  struct iobuf_description* const d = atomic_load_explicit(&iobuf_slots[fd], memory_order_acquire);
  if (d == NULL || iobuf_inside != 0) return NULL;
  struct iobuf_file* const file = d->file;
  if (atomic_load_explicit(&file->aside, memory_order_acquire) != 0) return NULL;
  iobuf_lock(file);
  if (atomic_load_explicit(&iobuf_slots[fd], memory_order_relaxed) == d && d->file == file &&
      atomic_load_explicit(&file->aside, memory_order_relaxed) == 0)
    return d;
  iobuf_unlock(file);
  return NULL;
}

void iobuf_wait_for_change(struct iobuf_file* file) {
  ++file->waiting;
  iobuf_wait(file);
  --file->waiting;
}

static struct iobuf_description* enter_between_pauses(int fd, int needs_offset) {
  for (;;) {
    struct iobuf_description* const d = iobuf_enter(fd);
    if (d == NULL) return NULL;
    struct iobuf_file* const file = d->file;
    if (file->pauses == 0 && !(needs_offset && d->busy)) return d;
    iobuf_wait_for_change(file);
    iobuf_unlock(file);
  }
}

struct iobuf_description* iobuf_enter_offset(int fd) {
  struct iobuf_description* const d = enter_between_pauses(fd, 1);
  if (d == NULL) return NULL;
  d->busy = 1;
  ++iobuf_inside;
  iobuf_call.from = NULL;
  iobuf_call.reached = d->offset;
  atomic_signal_fence(memory_order_seq_cst);
  iobuf_call.d = d;
  return d;
}

struct iobuf_description* iobuf_enter_place(int fd) { return enter_between_pauses(fd, 0); }

/// It is not closed meanwhile, because that waits.
void iobuf_leave_offset(struct iobuf_description* d) {
  struct iobuf_file* const file = d->file;
  iobuf_call.d = NULL;
  d->busy = 0;
  if (file->waiting > 0) pthread_cond_broadcast(&file->changed);
  --iobuf_inside;
  iobuf_unlock(file);
}

static int is_in_use(const struct iobuf_file* file) {
  const struct iobuf_description* d = file->descriptions;
  while (d != NULL && !d->busy) d = d->next;
  return d != NULL || file->writing > 0;
}

/// Each wait unlocks the file. Calls that are under way then write into buffers again, so this must be repeated until
/// nothing is left to wait for.
void iobuf_begin_pause(struct iobuf_file* file) {
  ++file->pauses;
  do {
    while (is_in_use(file)) iobuf_wait_for_change(file);
    iobuf_release(file);
  } while (is_in_use(file));
}

void iobuf_end_pause(struct iobuf_file* file) {
  --file->pauses;
  if (file->waiting > 0) pthread_cond_broadcast(&file->changed);
}

/// Nothing changes in a file that is not unlocked for this time.
int iobuf_lock_soon(struct iobuf_file* file) {
  const struct timespec ms = {0, 1000000};
  for (unsigned k = 0; k < most_lock_ms; ++k) {
    if (iobuf_try_lock(file)) return 1;
    if (file->holder == iobuf_this_thread()) return 0;
    nanosleep(&ms, NULL);
  }
  return 0;
}

/// The other threads, which may wait or be in the middle of a call, are not in a child.
void iobuf_reset_locks(struct iobuf_file* file) {
  pthread_mutex_init(&file->lock, NULL);
  pthread_cond_init(&file->changed, NULL);
  set_holder(file, NULL);
  iobuf_take_error(file);  // the parent tells it
  file->waiting = file->pauses = file->writing = file->direct = 0;
  for (struct iobuf_description* d = file->descriptions; d != NULL; d = d->next) d->busy = 0;
}
