// The buffers of a file, which is locked, and writes through them. The file reads.c has the reads.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/buffers.h"

static void now_dirty(struct iobuf_buffer* buffer) {
  if (atomic_fetch_add(&buffer->file->dirty, 1) == 0) atomic_fetch_add(&iobuf_dirty_files, 1);
  buffer->dirty_ms = iobuf_now_ms();
  buffer->since = ++buffer->file->clock;
  iobuf_begin_jobs();
}

/// A signal handler can look at the dirty bytes at any time. Empty ranges have a high end that is not above the low
/// one, and each byte is there before it belongs to a range.
static void set_dirty(size_t* end, size_t value) {
  atomic_signal_fence(memory_order_seq_cst);
  *end = value;
  atomic_signal_fence(memory_order_seq_cst);
}

static void now_clean(struct iobuf_buffer* buffer) {
  set_dirty(&buffer->dirty_high, 0);
  set_dirty(&buffer->dirty_low, 0);
  if (atomic_fetch_sub(&buffer->file->dirty, 1) == 1) atomic_fetch_sub(&iobuf_dirty_files, 1);
}

/// Bytes that could not be written are gone, as in the cache of the system.
void iobuf_written(struct iobuf_buffer* buffer, int error) {
  struct iobuf_file* const file = buffer->file;
  now_clean(buffer);
  if (error == 0) return;
  if (file->error == 0) file->error = error;
  ++file->failed;
  ++file->counts.errors;
  iobuf_empty(buffer);
}

/// In this order: while it waits, others can give it another job.
void iobuf_settle(struct iobuf_buffer* buffer) {
  iobuf_await(buffer);
  if (buffer->state != iobuf_queued) return;
  buffer->state = iobuf_idle;
  if (buffer->fills) iobuf_empty(buffer);
  else --buffer->file->queued;
}

void iobuf_clean(struct iobuf_buffer* buffer) {
  iobuf_settle(buffer);
  if (!iobuf_is_dirty(buffer)) return;
  const int error = iobuf_write_out(iobuf_writer(buffer->file), buffer, &buffer->file->counts.system_writes);
  iobuf_written(buffer, error);
}

void iobuf_write_dirty(struct iobuf_file* file) {
  uint64_t calls = 0;
  const int fd = iobuf_writer(file);
  for (unsigned k = 0; file->buffers != NULL && k < iobuf_most_buffers; ++k) {
    if (!iobuf_is_dirty(&file->buffers[k])) continue;
    const int error = iobuf_write_out(fd, &file->buffers[k], &calls);
    if (error != 0) file->error = error;
  }
}

// While this thread waits for a job, others can use the file. Therefore the last pass of these two waits for nothing.

static struct iobuf_buffer* first_dirty(const struct iobuf_file* file) {
  struct iobuf_buffer* found = NULL;
  for (unsigned k = 0; k < file->has; ++k) {
    struct iobuf_buffer* const b = &file->buffers[k];
    if (iobuf_is_dirty(b) && (found == NULL || b->since < found->since)) found = b;
  }
  return found;
}

/// In the order in which the program began to write them.
void iobuf_flush(struct iobuf_file* file) {
  for (struct iobuf_buffer* b; (b = first_dirty(file)) != NULL;) iobuf_clean(b);
}

void iobuf_drop(struct iobuf_file* file) {
  for (int waits = 1; waits;) {
    waits = 0;
    for (unsigned k = 0; k < file->has; ++k) {
      struct iobuf_buffer* const b = &file->buffers[k];
      waits |= b->state == iobuf_running;
      iobuf_clean(b);
      iobuf_empty(b);
    }
  }
}

void iobuf_release(struct iobuf_file* file) {
  iobuf_drop(file);
  for (unsigned k = 0; k < file->has; ++k) {
    iobuf_give_memory(file->buffers[k].data, file->with.bytes);
    file->buffers[k].data = NULL;
  }
  file->has = 0;
}

int iobuf_take_error(struct iobuf_file* file) {
  const int error = file->error;
  if (error == 0) return 0;
  file->error = 0;
  file->failed = 0;
  return error;
}

int iobuf_report_error(struct iobuf_file* file) {
  const int error = iobuf_take_error(file);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int iobuf_report_late_error(int fd) {
  struct iobuf_description* const d = (unsigned)fd < iobuf_most_fds ? iobuf_slots[fd] : NULL;
  if (d == NULL || !d->writes || iobuf_inside != 0) return 0;
  struct iobuf_file* const file = d->file;
  if (file->error == 0) return 0;
  iobuf_lock(file);
  const int result = file->aside != 0 && file->live ? iobuf_report_error(file) : 0;
  iobuf_unlock(file);
  return result;
}

off_t iobuf_dirty_end(const struct iobuf_file* file) {
  off_t end = 0;
  for (unsigned k = 0; k < file->has; ++k) {
    const struct iobuf_buffer* const b = &file->buffers[k];
    const off_t own = iobuf_is_dirty(b) ? (off_t)((uint64_t)b->block << file->with.shift) + (off_t)b->dirty_high : 0;
    if (own > end) end = own;
  }
  return end;
}

void iobuf_publish(void) {
  if (iobuf_dirty_files == 0) return;
  iobuf_check_owner();
  const int error = errno;
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    struct iobuf_file* const file = &iobuf_files[k];
    if (file->dirty == 0) continue;
    // In a signal handler that has interrupted this library, a lock may be held by this thread.
    if (iobuf_inside == 0) {
      iobuf_lock(file);
    } else if (!iobuf_lock_soon(file)) {
      iobuf_write_dirty(file);
      continue;
    }
    iobuf_flush(file);
    iobuf_unlock(file);
  }
  errno = error;
}

struct iobuf_buffer* iobuf_find_block(struct iobuf_file* file, int64_t block) {
  for (unsigned k = 0; k < file->has; ++k) {
    if (file->buffers[k].block == block) return &file->buffers[k];
  }
  return NULL;
}

static int has_array(struct iobuf_file* file) {
  if (file->buffers != NULL) return 1;
  const size_t bytes = sizeof(struct iobuf_buffer) * iobuf_most_buffers;
  const long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == -1) return 0;
  file->buffers = (struct iobuf_buffer*)at;
  for (unsigned k = 0; k < iobuf_most_buffers; ++k) file->buffers[k].file = file;
  return 1;
}

static struct iobuf_buffer* add_buffer(struct iobuf_file* file) {
  if (file->aside != 0 || file->has >= file->with.buffers || !has_array(file)) return NULL;
  struct iobuf_buffer* const buffer = &file->buffers[file->has];
  buffer->data = iobuf_take_memory(file->with.bytes);
  if (buffer->data == NULL) return NULL;
  ++file->has;
  buffer->dirty_low = buffer->dirty_high = 0;
  buffer->state = iobuf_idle;
  buffer->discard = 0;
  iobuf_empty(buffer);
  return buffer;
}

static struct iobuf_buffer* older(struct iobuf_buffer* a, struct iobuf_buffer* b) {
  return a == NULL || b->used < a->used ? b : a;
}

/// The least recently used one that is clean, or else one that can be made clean at once.
static struct iobuf_buffer* to_replace(struct iobuf_file* file, int64_t block, int read_ahead) {
  struct iobuf_buffer *clean_one = NULL, *dirty_one = NULL;
  for (unsigned k = 0; k < file->has; ++k) {
    struct iobuf_buffer* const b = &file->buffers[k];
    if (b->state == iobuf_idle && b->block == -1) return b;
    if (b->state == iobuf_running) continue;
    if (b->state == iobuf_queued || iobuf_is_dirty(b)) dirty_one = older(dirty_one, b);
    else if (!read_ahead || b->block < block - 1 - (int64_t)file->with.ahead || b->block > block)
      clean_one = older(clean_one, b);
  }
  struct iobuf_buffer* const added = add_buffer(file);
  if (added != NULL) return added;
  return clean_one != NULL || read_ahead ? clean_one : dirty_one;
}

struct iobuf_buffer* iobuf_obtain(struct iobuf_file* file, int64_t block, int read_ahead, int* waited) {
  struct iobuf_buffer* const b = to_replace(file, block, read_ahead);
  if (b == NULL && !read_ahead && file->has > 0) {
    iobuf_await(&file->buffers[0]);
    *waited = 1;
  }
  if (b == NULL) return NULL;
  iobuf_clean(b);
  iobuf_empty(b);
  b->block = block;
  b->used = ++file->clock;
  return b;
}

struct iobuf_buffer* iobuf_buffer_for(struct iobuf_file* file, int64_t block) {
  for (;;) {
    struct iobuf_buffer* b = iobuf_find_block(file, block);
    if (b != NULL && b->state == iobuf_idle) return b;
    if (b != NULL) {
      iobuf_settle(b);
      continue;
    }
    int waited = 0;
    b = iobuf_obtain(file, block, 0, &waited);
    if (!waited) return b;
  }
}

/// The part of a write that one block holds. 0: there is no memory for it.
static int put(struct iobuf_file* file, int64_t block, size_t low, const char* from, size_t n) {
  const size_t high = low + n;
  struct iobuf_buffer* const b = iobuf_buffer_for(file, block);
  if (b == NULL) return 0;
  if (iobuf_is_dirty(b) && (high < b->dirty_low || low > b->dirty_high)) iobuf_clean(b);
  b->block = block;  // an error empties it
  memcpy(b->data + low, from, n);
  const int touches = b->high > b->low && low <= b->high && high >= b->low;
  b->low = touches && b->low < low ? b->low : low;
  b->high = touches && b->high > high ? b->high : high;
  if (!iobuf_is_dirty(b)) {
    set_dirty(&b->dirty_low, low);
    set_dirty(&b->dirty_high, high);
    now_dirty(b);
  } else {
    if (low < b->dirty_low) set_dirty(&b->dirty_low, low);
    if (high > b->dirty_high) set_dirty(&b->dirty_high, high);
  }
  b->used = ++file->clock;
  if (!iobuf_has_jobs()) iobuf_clean(b);
  if (b->dirty_high != file->with.bytes || high != file->with.bytes) return 1;
  b->fills = 0;
  if (file->queued >= file->with.behind || !iobuf_enqueue(b)) iobuf_clean(b);
  else ++file->queued;
  return 1;
}

/// No buffer may have other bytes of this range afterwards.
static void forget_range(struct iobuf_file* file, off_t at, size_t n, int keep_dirty) {
  for (int waits = 1; waits;) {
    waits = 0;
    for (unsigned k = 0; k < file->has; ++k) {
      struct iobuf_buffer* const b = &file->buffers[k];
      if (!iobuf_overlaps(b, at, n, file->with.shift)) continue;
      waits |= b->state == iobuf_running;
      iobuf_settle(b);
      if (!keep_dirty) iobuf_clean(b);
      b->low = b->dirty_low, b->high = b->dirty_high;
      if (!iobuf_is_dirty(b)) iobuf_empty(b);
    }
  }
}

/// Other threads can use the file meanwhile, but read nothing into buffers.
static ssize_t write_directly(struct iobuf_description* d, int fd, const char* from, size_t n, off_t at) {
  struct iobuf_file* const file = d->file;
  iobuf_begin_piece(d, from, n, at);
  forget_range(file, at, n, 0);
  ++file->direct;
  ++file->counts.system_writes;
  iobuf_unlock(file);
  const ssize_t done = iobuf_sys_pwrite(fd, from, n, at);
  const int error = errno;
  iobuf_lock(file);
  iobuf_end_piece(d, done > 0 ? (size_t)done : 0);
  --file->direct;
  forget_range(file, at, n, 1);
  errno = error;
  return done;
}

static ssize_t write_part(struct iobuf_description* d, int fd, const char* from, size_t n, off_t at) {
  struct iobuf_file* const file = d->file;
  if (iobuf_is_large(&file->with, n)) return write_directly(d, fd, from, n, at);
  size_t done = 0;
  while (done < n) {
    const off_t place = at + (off_t)done;
    const size_t low = (size_t)place & (file->with.bytes - 1), room = file->with.bytes - low;
    const size_t length = n - done < room ? n - done : room;
    iobuf_begin_piece(d, from + done, length, place);
    if (!put(file, place >> file->with.shift, low, from + done, length)) break;
    iobuf_end_piece(d, length);
    done += length;
  }
  if (done == n) return (ssize_t)n;
  const ssize_t rest = write_directly(d, fd, from + done, n - done, at + (off_t)done);
  if (rest < 0) return done > 0 ? (ssize_t)done : -1;
  return (ssize_t)done + rest;
}

ssize_t iobuf_write(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at) {
  struct iobuf_file* const file = d->file;
  if (iobuf_report_error(file) != 0) return -1;
  ssize_t done = 0;
  for (int k = 0; k < count; ++k) {
    if (parts[k].iov_len == 0) continue;
    const ssize_t put = write_part(d, fd, parts[k].iov_base, parts[k].iov_len, at + done);
    if (put < 0 && done == 0) return -1;
    if (put > 0) done += put;
    if (put < (ssize_t)parts[k].iov_len) break;
  }
  ++file->counts.writes;
  file->counts.written_bytes += (uint64_t)done;
  return done;
}
