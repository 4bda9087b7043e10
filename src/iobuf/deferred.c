// A signal handler can interrupt a call that is inside this library, with a file locked. Writes of the
// handler wait until that call is done, as the handler itself would have waited for a call of the system.
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

enum { most_waiting = 256, most_bytes = 1000, current = -1 };
enum { unused, filling, ready };
static struct {
  atomic_int state;
  const void* thread;
  unsigned long long number;
  int fd;
  off_t at;  // or current
  int closes;
  size_t n;
  char bytes[most_bytes];
} waiting[most_waiting];
static atomic_ullong numbers;
__thread int iobuf_waiting __attribute__((tls_model("initial-exec")));

static int take_free(void) {
  for (int k = 0; k < most_waiting; ++k) {
    int none = unused;
    if (atomic_compare_exchange_strong(&waiting[k].state, &none, filling)) return k;
  }
  return -1;
}

int iobuf_must_wait(int fd) {
  if (iobuf_inside == 0 || (unsigned)fd >= iobuf_most_fds) return 0;
  const struct iobuf_description* const d = iobuf_slots[fd];
  return d != NULL && d->file->aside == 0;
}

static void put_in(int k, int fd, const struct iovec* parts, int count, off_t at) {
  waiting[k].n = 0;
  for (int p = 0; p < count; ++p) {
    const size_t room = most_bytes - waiting[k].n, n = parts[p].iov_len < room ? parts[p].iov_len : room;
    memcpy(waiting[k].bytes + waiting[k].n, parts[p].iov_base, n);
    waiting[k].n += n;
  }
  waiting[k].thread = &iobuf_inside;
  waiting[k].fd = fd, waiting[k].at = at, waiting[k].closes = 0;
  waiting[k].number = atomic_fetch_add(&numbers, 1);
  waiting[k].state = ready;
  ++iobuf_waiting;
}

/// The last write that waits for this descriptor; -1: none.
static int last_of(int fd) {
  int last = -1;
  for (int k = 0; iobuf_waiting > 0 && k < most_waiting; ++k) {
    if (waiting[k].state != ready || waiting[k].thread != &iobuf_inside || waiting[k].fd != fd) continue;
    if (last < 0 || waiting[k].number > waiting[last].number) last = k;
  }
  return last;
}

/// Bytes that find no place are not taken: a short write, or EINTR.
ssize_t iobuf_write_later(int fd, const struct iovec* parts, int count, off_t at) {
  if (count < 0 || count > IOV_MAX) {
    errno = EINVAL;
    return -1;
  }
  const int last = last_of(fd);
  if (last >= 0 && at == current && waiting[last].at == current && !waiting[last].closes && count > 0 &&
      parts[0].iov_len <= most_bytes - waiting[last].n) {
    memcpy(waiting[last].bytes + waiting[last].n, parts[0].iov_base, parts[0].iov_len);
    waiting[last].n += parts[0].iov_len;
    return (ssize_t)parts[0].iov_len;
  }
  const int k = take_free();
  if (k < 0) {
    errno = EINTR;
    return -1;
  }
  put_in(k, fd, parts, count, at);
  return (ssize_t)waiting[k].n;
}

int iobuf_close_later(int fd) {
  int k = last_of(fd);
  if (k < 0) {
    k = take_free();
    if (k >= 0) put_in(k, fd, NULL, 0, current);
  }
  if (k < 0) {
    errno = EINTR;
    return -1;
  }
  waiting[k].closes = 1;
  return 0;
}

static int first_of_thread(void) {
  int first = -1;
  for (int k = 0; k < most_waiting; ++k) {
    if (waiting[k].state != ready || waiting[k].thread != &iobuf_inside) continue;
    if (first < 0 || waiting[k].number < waiting[first].number) first = k;
  }
  return first;
}

static void run(int k) {
  const int fd = waiting[k].fd;
  const off_t at = waiting[k].at;
  for (size_t done = 0; done < waiting[k].n;) {
    const char* const from = waiting[k].bytes + done;
    const size_t n = waiting[k].n - done;
    const ssize_t now = at >= 0 ? pwrite(fd, from, n, at + (off_t)done) : write(fd, from, n);
    if (now <= 0) break;
    done += (size_t)now;
  }
  if (waiting[k].closes) close(fd);
}

/// A handler that comes between two of them runs the others: each is taken once.
void iobuf_run_waiting(void) {
  const int error = errno;
  while (iobuf_inside == 0 && iobuf_waiting > 0) {
    int as_found = ready;
    const int k = first_of_thread();
    if (k < 0) iobuf_waiting = 0;
    if (k < 0 || !atomic_compare_exchange_strong(&waiting[k].state, &as_found, filling)) continue;
    --iobuf_waiting;
    run(k);
    waiting[k].state = unused;
  }
  errno = error;
}

/// At the end, when the interrupted call never continues.
static void write_waiting(void) {
  for (int k = first_of_thread(); k >= 0; k = first_of_thread()) {
    struct iobuf_description* const d = iobuf_slots[waiting[k].fd];
    waiting[k].state = unused;
    if (d == NULL) continue;
    const off_t at = waiting[k].at >= 0 ? waiting[k].at : d->offset;
    const ssize_t n = iobuf_sys_pwrite(waiting[k].fd, waiting[k].bytes, waiting[k].n, at);
    if (waiting[k].at < 0 && n > 0) d->offset += n;
  }
}

/// The call that was interrupted counts as far as it has come.
static void complete_piece(void) {
  struct iobuf_description* const d = iobuf_call.d;
  if (d == NULL || d->appends || d->file->aside != 0) return;
  d->offset = iobuf_call.reached;
  if (iobuf_call.from == NULL) return;
  const ssize_t n = iobuf_sys_pwrite(d->fd, iobuf_call.from, iobuf_call.n, iobuf_call.at);
  if (n > 0 && iobuf_call.at + n > d->offset) d->offset = iobuf_call.at + n;
}

void iobuf_end_inside(void) {
  const int error = errno;
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    struct iobuf_file* const file = &iobuf_files[k];
    if (file->aside != 0 || !file->live) continue;
    iobuf_lock_soon(file);  // for ever
    if (file->aside == 0) iobuf_write_dirty(file);
  }
  complete_piece();
  write_waiting();
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    struct iobuf_file* const file = &iobuf_files[k];
    if (file->aside == 0 && file->live) iobuf_leave_to_system(file, iobuf_by_other);
  }
  iobuf_print_errors();
  errno = error;
}

/// They are the parent's.
void iobuf_forget_waiting(void) {
  iobuf_waiting = 0;
  for (int k = 0; k < most_waiting; ++k) waiting[k].state = unused;
}
