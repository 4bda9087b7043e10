// The buffers of a file, which is locked: for the code that reads and writes through them.
#pragma once
#include "iobuf/iobuf.h"

static inline int iobuf_is_dirty(const struct iobuf_buffer* buffer) { return buffer->dirty_high > buffer->dirty_low; }

static inline void iobuf_empty(struct iobuf_buffer* buffer) {
  buffer->block = -1;
  buffer->low = buffer->high = 0;
}

static inline int iobuf_overlaps(const struct iobuf_buffer* b, off_t at, size_t n, unsigned shift) {
  const off_t begin = (off_t)((uint64_t)b->block << shift), end = begin + ((off_t)1 << shift);
  return b->block >= 0 && begin < at + (off_t)n && at < end;
}

/// Waits for its job, or takes it out of the queue.
void iobuf_settle(struct iobuf_buffer* buffer);
/// The file stays locked unless a job of the buffer runs.
void iobuf_clean(struct iobuf_buffer* buffer);
/// null: the block has no buffer.
struct iobuf_buffer* iobuf_find_block(struct iobuf_file* file, int64_t block);
/// For a block that has none. read_ahead: one that nobody will miss. Null: there is none, or this thread has waited,
/// and the block may have one now.
struct iobuf_buffer* iobuf_obtain(struct iobuf_file* file, int64_t block, int read_ahead, int* waited);
/// The buffer of the block, without a job; one that was read ahead or is written may have been waited for. Null: there
/// is no memory.
struct iobuf_buffer* iobuf_buffer_for(struct iobuf_file* file, int64_t block);
