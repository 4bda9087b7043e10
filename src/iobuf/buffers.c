// Reads and writes through the buffers of a file, which is locked.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

enum { recheck_ms = 100, clock_ms = 20, coarse_ms = 2100, sequence = 2, page = 4096 };

static int is_dirty(const struct iobuf_buffer* buffer) { return buffer->dirty_high > buffer->dirty_low; }

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

static void empty(struct iobuf_buffer* buffer) {
  buffer->block = -1;
  buffer->low = buffer->high = 0;
}

/// Bytes that could not be written are gone, as in the cache of the system.
void iobuf_written(struct iobuf_buffer* buffer, int error) {
  struct iobuf_file* const file = buffer->file;
  now_clean(buffer);
  if (error == 0) return;
  if (file->error == 0) file->error = error;
  ++file->failed;
  ++file->counts.errors;
  empty(buffer);
}

/// Waits for its job, or takes it out of the queue. In this order: while it waits, others can give it another job.
static void settle(struct iobuf_buffer* buffer) {
  iobuf_await(buffer);
  if (buffer->state != iobuf_queued) return;
  buffer->state = iobuf_idle;
  if (buffer->fills) empty(buffer);
  else --buffer->file->queued;
}

/// The file stays locked unless a job of the buffer runs.
static void clean(struct iobuf_buffer* buffer) {
  settle(buffer);
  if (!is_dirty(buffer)) return;
  const int error = iobuf_write_out(iobuf_writer(buffer->file), buffer, &buffer->file->counts.system_writes);
  iobuf_written(buffer, error);
}

void iobuf_write_dirty(struct iobuf_file* file) {
  uint64_t calls = 0;
  const int fd = iobuf_writer(file);
  for (unsigned k = 0; file->buffers != NULL && k < iobuf_most_buffers; ++k) {
    if (!is_dirty(&file->buffers[k])) continue;
    const int error = iobuf_write_out(fd, &file->buffers[k], &calls);
    if (error != 0) file->error = error;
  }
}

// While this thread waits for a job, others can use the file. Therefore the last pass of these two waits for nothing.

static struct iobuf_buffer* first_dirty(const struct iobuf_file* file) {
  struct iobuf_buffer* found = NULL;
  for (unsigned k = 0; k < file->has; ++k) {
    struct iobuf_buffer* const b = &file->buffers[k];
    if (is_dirty(b) && (found == NULL || b->since < found->since)) found = b;
  }
  return found;
}

/// In the order in which the program began to write them.
void iobuf_flush(struct iobuf_file* file) {
  for (struct iobuf_buffer* b; (b = first_dirty(file)) != NULL;) clean(b);
}

void iobuf_drop(struct iobuf_file* file) {
  for (int waits = 1; waits;) {
    waits = 0;
    for (unsigned k = 0; k < file->has; ++k) {
      struct iobuf_buffer* const b = &file->buffers[k];
      waits |= b->state == iobuf_running;
      clean(b);
      empty(b);
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
    const off_t own = is_dirty(b) ? (off_t)((uint64_t)b->block << file->with.shift) + (off_t)b->dirty_high : 0;
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

static struct iobuf_buffer* find(struct iobuf_file* file, int64_t block) {
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
  empty(buffer);
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
    if (b->state == iobuf_queued || is_dirty(b)) dirty_one = older(dirty_one, b);
    else if (!read_ahead || b->block < block - 1 - (int64_t)file->with.ahead || b->block > block)
      clean_one = older(clean_one, b);
  }
  struct iobuf_buffer* const added = add_buffer(file);
  if (added != NULL) return added;
  return clean_one != NULL || read_ahead ? clean_one : dirty_one;
}

/// For a block that has none. read_ahead: one that nobody will miss. Null: there is none, or this thread has waited,
/// and the block may have one now.
static struct iobuf_buffer* obtain(struct iobuf_file* file, int64_t block, int read_ahead, int* waited) {
  struct iobuf_buffer* const b = to_replace(file, block, read_ahead);
  if (b == NULL && !read_ahead && file->has > 0) {
    iobuf_await(&file->buffers[0]);
    *waited = 1;
  }
  if (b == NULL) return NULL;
  clean(b);
  empty(b);
  b->block = block;
  b->used = ++file->clock;
  return b;
}

/// The buffer of the block, without a job; one that was read ahead or is written may have been waited for. Null: there
/// is no memory.
static struct iobuf_buffer* buffer_for(struct iobuf_file* file, int64_t block) {
  for (;;) {
    struct iobuf_buffer* b = find(file, block);
    if (b != NULL && b->state == iobuf_idle) return b;
    if (b != NULL) {
      settle(b);
      continue;
    }
    int waited = 0;
    b = obtain(file, block, 0, &waited);
    if (!waited) return b;
  }
}

/// The clock of a file system stands still for some milliseconds, or for two seconds: a change in this time is not
/// seen.
static int may_change_unseen(const struct stat* st) {
  const int64_t still_ms = st->st_mtim.tv_nsec == 0 || st->st_ctim.tv_nsec == 0 ? coarse_ms : clock_ms;
  const struct timespec* const last = st->st_ctim.tv_sec > st->st_mtim.tv_sec ? &st->st_ctim : &st->st_mtim;
  struct timespec wall;
  clock_gettime(CLOCK_REALTIME_COARSE, &wall);
  return (wall.tv_sec - last->tv_sec) * 1000 + (wall.tv_nsec - last->tv_nsec) / 1000000 < still_ms;
}

/// Other processes may have written: is what was read still in the file?
static void check_clean(struct iobuf_file* file, int fd) {
  const uint64_t now = iobuf_now_ms();
  const unsigned epoch = atomic_load_explicit(&iobuf_epoch, memory_order_relaxed);
  if (file->checked_ms != 0 && file->epoch == epoch && now - file->checked_ms < recheck_ms) return;
  struct stat st;
  if (iobuf_sys_fstat(fd, &st) != 0) return;
  const int same = file->checked_ms != 0 && !file->remote && st.st_size == file->size &&
                   memcmp(&st.st_mtim, &file->modified, sizeof st.st_mtim) == 0 &&
                   memcmp(&st.st_ctim, &file->status, sizeof st.st_ctim) == 0;
  file->checked_ms = now, file->epoch = epoch;
  file->size = st.st_size, file->modified = st.st_mtim, file->status = st.st_ctim;
  if (same) return;
  if (may_change_unseen(&st)) file->modified.tv_nsec = -1;
  for (unsigned k = 0; k < file->has; ++k) {
    struct iobuf_buffer* const b = &file->buffers[k];
    if (b->state == iobuf_queued && b->fills) settle(b);
    if (b->state == iobuf_running && b->fills) b->discard = 1;
    if (b->state != iobuf_idle) continue;
    b->low = b->dirty_low, b->high = b->dirty_high;
    if (!is_dirty(b)) empty(b);
  }
}

static int overlaps(const struct iobuf_buffer* b, off_t at, size_t n, unsigned shift) {
  const off_t begin = (off_t)((uint64_t)b->block << shift), end = begin + ((off_t)1 << shift);
  return b->block >= 0 && begin < at + (off_t)n && at < end;
}

static void read_ahead(struct iobuf_description* d, int64_t block) {
  struct iobuf_file* const file = d->file;
  for (int64_t next = block + 1; next <= block + (int64_t)file->with.ahead; ++next) {
    if (next >= (file->size + (off_t)file->with.bytes - 1) >> file->with.shift) return;
    if (find(file, next) != NULL) continue;
    int waited;
    struct iobuf_buffer* const buffer = obtain(file, next, 1, &waited);
    if (buffer == NULL) return;
    buffer->fills = 1;
    if (!iobuf_enqueue(buffer)) {
      empty(buffer);
      return;
    }
  }
}

/// Where a fill ends. The longer the program has read in sequence, the longer the fill: at a random place, few bytes
/// are used. To the end of the block if something else in this block has replaced bytes that were read in advance.
static size_t end_of_fill(const struct iobuf_description* d, const struct iobuf_buffer* b, size_t from, size_t n) {
  const size_t bytes = d->file->with.bytes, twice = 2 * (d->run + n);
  if (twice >= bytes || (b->high > b->low && from != b->high && d->in_sequence > sequence)) return bytes;
  const size_t end = (from + (twice > page ? twice : page) + page - 1) / page * page;
  return end < bytes ? end : bytes;
}

/// Appends to the buffer of the block, or begins it with this byte. Null: read without buffers.
static struct iobuf_buffer* fill(struct iobuf_description* d, int fd, int64_t block, size_t from, size_t n) {
  struct iobuf_file* const file = d->file;
  struct iobuf_buffer* const b = buffer_for(file, block);
  if (b == NULL || (b->low <= from && from < b->high)) return b;
  const size_t end = end_of_fill(d, b, from, n);
  if (from != b->high) clean(b);
  if (file->direct > 0) return NULL;
  b->block = block;
  if (from != b->high) b->low = b->high = from;
  const ssize_t got = iobuf_fill(fd, b, from, end);
  ++file->counts.system_reads;
  if (got > 0) {
    b->high = from + (size_t)got;
    return b;
  }
  if (b->low == b->high) empty(b);
  return NULL;
}

/// Without buffers. The file is unlocked meanwhile, so that other threads can read.
static ssize_t read_directly(struct iobuf_description* d, int fd, char* to, size_t n, off_t at) {
  struct iobuf_file* const file = d->file;
  for (unsigned k = 0; k < file->has; ++k) {
    struct iobuf_buffer* const b = &file->buffers[k];
    if (is_dirty(b) && overlaps(b, at, n, file->with.shift)) clean(b);
  }
  ++file->counts.system_reads;
  if (file->dirty > 0) {
    const ssize_t got = iobuf_sys_pread(fd, to, n, at);
    if (got < 0 || (size_t)got == n) return got;
    iobuf_flush(file);  // it may begin behind the end that the system knows
    return iobuf_sys_pread(fd, to, n, at);
  }
  iobuf_unlock(file);
  const ssize_t got = iobuf_sys_pread(fd, to, n, at);
  const int error = errno;
  iobuf_lock(file);
  errno = error;
  return got;
}

/// The bytes of one call that are in buffers, or can be brought there.
static ssize_t read_buffered(struct iobuf_description* d, int fd, char* to, size_t n, off_t at) {
  struct iobuf_file* const file = d->file;
  const int64_t block = at >> file->with.shift;
  const size_t from = (size_t)at & (file->with.bytes - 1);
  struct iobuf_buffer* b = find(file, block);
  while (b != NULL && b->state == iobuf_running && b->fills) {
    iobuf_await(b);
    b = find(file, block);
  }
  if (b != NULL && b->high > b->low && from == b->high && at >= file->size) return 0;  // probably the end of the file
  if (b != NULL && (from < b->low || from >= b->high)) b = NULL;
  if (b == NULL && d->in_sequence >= sequence) b = fill(d, fd, block, from, n);
  if (b == NULL) return 0;
  if (d->run >= file->with.bytes && d->read_block != block && b->high == file->with.bytes && file->direct == 0) {
    d->read_block = block;
    read_ahead(d, block);
  }
  const size_t length = b->high - from < n ? b->high - from : n;
  memcpy(to, b->data + from, length);
  b->used = ++file->clock;
  return (ssize_t)length;
}

static ssize_t read_part(struct iobuf_description* d, int fd, char* to, size_t n, off_t at) {
  struct iobuf_file* const file = d->file;
  size_t done = 0;
  if (iobuf_is_large(&file->with, n)) {
    d->in_sequence = 0;  // it passes what was read in advance
  } else {
    if (file->has > 0 || d->in_sequence >= sequence) check_clean(file, fd);
    while (done < n) {
      const ssize_t got = read_buffered(d, fd, to + done, n - done, at + (off_t)done);
      if (got <= 0) break;
      done += (size_t)got;
    }
  }
  if (done == n) return (ssize_t)n;
  const ssize_t got = read_directly(d, fd, to + done, n - done, at + (off_t)done);
  if (got < 0) return done > 0 ? (ssize_t)done : -1;
  return (ssize_t)done + got;
}

ssize_t iobuf_read(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at) {
  struct iobuf_file* const file = d->file;
  ssize_t done = 0;
  d->in_sequence = at == d->expected ? d->in_sequence + 1 : 0;
  if (d->in_sequence < sequence) d->run = 0;
  for (int k = 0; k < count; ++k) {
    if (parts[k].iov_len == 0) continue;
    const ssize_t got = read_part(d, fd, parts[k].iov_base, parts[k].iov_len, at + done);
    if (got < 0 && done == 0) return -1;
    if (got > 0) done += got, d->run += (size_t)got;
    if (got < (ssize_t)parts[k].iov_len) break;
  }
  ++file->counts.reads;
  file->counts.read_bytes += (uint64_t)done;
  d->expected = at + done;
  return done;
}

/// The part of a write that one block holds. 0: there is no memory for it.
static int put(struct iobuf_file* file, int64_t block, size_t low, const char* from, size_t n) {
  const size_t high = low + n;
  struct iobuf_buffer* const b = buffer_for(file, block);
  if (b == NULL) return 0;
  if (is_dirty(b) && (high < b->dirty_low || low > b->dirty_high)) clean(b);
  b->block = block;  // an error empties it
  memcpy(b->data + low, from, n);
  const int touches = b->high > b->low && low <= b->high && high >= b->low;
  b->low = touches && b->low < low ? b->low : low;
  b->high = touches && b->high > high ? b->high : high;
  if (!is_dirty(b)) {
    set_dirty(&b->dirty_low, low);
    set_dirty(&b->dirty_high, high);
    now_dirty(b);
  } else {
    if (low < b->dirty_low) set_dirty(&b->dirty_low, low);
    if (high > b->dirty_high) set_dirty(&b->dirty_high, high);
  }
  b->used = ++file->clock;
  if (!iobuf_has_jobs()) clean(b);
  if (b->dirty_high != file->with.bytes || high != file->with.bytes) return 1;
  b->fills = 0;
  if (file->queued >= file->with.behind || !iobuf_enqueue(b)) clean(b);
  else ++file->queued;
  return 1;
}

/// No buffer may have other bytes of this range afterwards.
static void forget_range(struct iobuf_file* file, off_t at, size_t n, int keep_dirty) {
  for (int waits = 1; waits;) {
    waits = 0;
    for (unsigned k = 0; k < file->has; ++k) {
      struct iobuf_buffer* const b = &file->buffers[k];
      if (!overlaps(b, at, n, file->with.shift)) continue;
      waits |= b->state == iobuf_running;
      settle(b);
      if (!keep_dirty) clean(b);
      b->low = b->dirty_low, b->high = b->dirty_high;
      if (!is_dirty(b)) empty(b);
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
