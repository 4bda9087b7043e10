// Reads through the buffers of a file, which is locked.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <time.h>

#include "iobuf/buffers.h"

enum { recheck_ms = 100, clock_ms = 20, coarse_ms = 2100, sequence = 2, page = 4096 };

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
    if (b->state == iobuf_queued && b->fills) iobuf_settle(b);
    if (b->state == iobuf_running && b->fills) b->discard = 1;
    if (b->state != iobuf_idle) continue;
    b->low = b->dirty_low, b->high = b->dirty_high;
    if (!iobuf_is_dirty(b)) iobuf_empty(b);
  }
}

static void read_ahead(struct iobuf_description* d, int64_t block) {
  struct iobuf_file* const file = d->file;
  for (int64_t next = block + 1; next <= block + (int64_t)file->with.ahead; ++next) {
    if (next >= (file->size + (off_t)file->with.bytes - 1) >> file->with.shift) return;
    if (iobuf_find_block(file, next) != NULL) continue;
    int waited;
    struct iobuf_buffer* const buffer = iobuf_obtain(file, next, 1, &waited);
    if (buffer == NULL) return;
    buffer->fills = 1;
    if (!iobuf_enqueue(buffer)) {
      iobuf_empty(buffer);
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
  struct iobuf_buffer* const b = iobuf_buffer_for(file, block);
  if (b == NULL || (b->low <= from && from < b->high)) return b;
  const size_t end = end_of_fill(d, b, from, n);
  if (from != b->high) iobuf_clean(b);
  if (file->direct > 0) return NULL;
  b->block = block;
  if (from != b->high) b->low = b->high = from;
  const ssize_t got = iobuf_fill(fd, b, from, end);
  ++file->counts.system_reads;
  if (got > 0) {
    b->high = from + (size_t)got;
    return b;
  }
  if (b->low == b->high) iobuf_empty(b);
  return NULL;
}

/// Without buffers. The file is unlocked meanwhile, so that other threads can read.
static ssize_t read_directly(struct iobuf_description* d, int fd, char* to, size_t n, off_t at) {
  struct iobuf_file* const file = d->file;
  for (unsigned k = 0; k < file->has; ++k) {
    struct iobuf_buffer* const b = &file->buffers[k];
    if (iobuf_is_dirty(b) && iobuf_overlaps(b, at, n, file->with.shift)) iobuf_clean(b);
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
  struct iobuf_buffer* b = iobuf_find_block(file, block);
  while (b != NULL && b->state == iobuf_running && b->fills) {
    iobuf_await(b);
    b = iobuf_find_block(file, block);
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
