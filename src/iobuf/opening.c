// Descriptors come, are copied, and go.
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

atomic_int iobuf_locks;

#define ALIAS(name) __attribute__((alias(#name)))

/// An open that shortens a file: its buffers are empty before, and stay so until the end. Null: nothing to do.
static struct iobuf_file* before_truncation(int folder, const char* path) {
  struct stat st;
  const int error = errno;
  if (iobuf_files_used == 0 || path == NULL || iobuf_sys_stat(folder, path, &st, 0) != 0) {
    errno = error;
    return NULL;
  }
  struct iobuf_file* const file = iobuf_find(&st);
  if (file != NULL) iobuf_drop(file);
  return file;
}

static int open_by(int folder, const char* path, int flags, mode_t mode) {
  struct iobuf_file* file = NULL;
  if ((flags & O_CREAT) != 0) iobuf_publish();  // others may wait for the name
  if ((flags & O_TRUNC) != 0) file = before_truncation(folder, path);
  if ((flags & O_EXCL) != 0) iobuf_heard();
  const int before = file != NULL ? iobuf_begin_uncancelled() : 0;
  const int fd = REAL(openat)(folder, path, flags, mode);
  if (file != NULL) {
    iobuf_unlock(file);
    iobuf_end_uncancelled(before);
  }
  return iobuf_opened(fd, path, 0);
}

#define MODE(flags)                                                 \
  mode_t mode = 0;                                                  \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    mode = va_arg(rest, mode_t);                                    \
    va_end(rest);                                                   \
  }

IOBUF_PUBLIC int open(const char* path, int flags, ...) {
  MODE(flags)
  return open_by(AT_FDCWD, path, flags, mode);
}
IOBUF_PUBLIC int openat(int folder, const char* path, int flags, ...) {
  MODE(flags)
  return open_by(folder, path, flags, mode);
}
IOBUF_PUBLIC int creat(const char* path, mode_t mode) {
  return open_by(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
IOBUF_PUBLIC int open64(const char* path, int flags, ...) ALIAS(open);
IOBUF_PUBLIC int openat64(int folder, const char* path, int flags, ...) ALIAS(openat);
IOBUF_PUBLIC int open_by_handle_at(int folder, struct file_handle* handle, int flags) {
  return iobuf_opened(REAL(open_by_handle_at)(folder, handle, flags), NULL, iobuf_by_other);
}
IOBUF_PUBLIC int creat64(const char* path, mode_t mode) ALIAS(creat);
int __open_2(const char* path, int flags);
int __open64_2(const char* path, int flags);
int __openat_2(int folder, const char* path, int flags);
int __openat64_2(int folder, const char* path, int flags);
IOBUF_PUBLIC int __open_2(const char* path, int flags) { return open_by(AT_FDCWD, path, flags, 0); }
IOBUF_PUBLIC int __openat_2(int folder, const char* path, int flags) { return open_by(folder, path, flags, 0); }
int __open(const char* path, int flags, ...) __nonnull((1));
int __open64(const char* path, int flags, ...) __nonnull((1));
IOBUF_PUBLIC int __open(const char* path, int flags, ...) ALIAS(open);
IOBUF_PUBLIC int __open64(const char* path, int flags, ...) ALIAS(open);
IOBUF_PUBLIC int __open64_2(const char* path, int flags) ALIAS(__open_2);
IOBUF_PUBLIC int __openat64_2(int folder, const char* path, int flags) ALIAS(__openat_2);

#define MAKES(call) \
  iobuf_publish();  \
  return iobuf_opened(call, path, 0)
IOBUF_PUBLIC int mkstemp(char* path) { MAKES(REAL(mkstemp)(path)); }
IOBUF_PUBLIC int mkostemp(char* path, int flags) { MAKES(REAL(mkostemp)(path, flags)); }
IOBUF_PUBLIC int mkstemps(char* path, int n) { MAKES(REAL(mkstemps)(path, n)); }
IOBUF_PUBLIC int mkostemps(char* path, int n, int flags) { MAKES(REAL(mkostemps)(path, n, flags)); }
IOBUF_PUBLIC int mkstemp64(char* path) ALIAS(mkstemp);
IOBUF_PUBLIC int mkostemp64(char* path, int flags) ALIAS(mkostemp);
IOBUF_PUBLIC int mkstemps64(char* path, int n) ALIAS(mkstemps);
IOBUF_PUBLIC int mkostemps64(char* path, int n, int flags) ALIAS(mkostemps);

// glibc has had these only since 2.34.
int close_range(unsigned from, unsigned to, int flags);
void closefrom(int from);
IOBUF_PUBLIC int close(int fd) {
  iobuf_publish_under_lock();
  if (iobuf_must_wait(fd)) return iobuf_close_later(fd);
  if (iobuf_inside == 0) iobuf_told(fd);  // the other end of a pipe sees it
  const int error = iobuf_forget(fd);
  iobuf_forget_kind(fd);
  const int result = REAL(close)(fd);
  if (result != 0 || error == 0) return result;
  errno = error;
  return -1;
}
int __close(int fd);
IOBUF_PUBLIC int __close(int fd) ALIAS(close);
static void forget_range(unsigned from, unsigned to) {
  iobuf_publish_under_lock();
  for (unsigned fd = from; fd < iobuf_most_fds && fd <= to; ++fd) {
    iobuf_forget_silently((int)fd);
    iobuf_forget_kind((int)fd);
  }
}
enum { close_on_exec = 4 };  // CLOSE_RANGE_CLOEXEC
IOBUF_PUBLIC int close_range(unsigned from, unsigned to, int flags) {
  if ((flags & close_on_exec) == 0) forget_range(from, to);
  return REAL(close_range)(from, to, flags);
}
IOBUF_PUBLIC void closefrom(int from) {
  forget_range(from > 0 ? (unsigned)from : 0, iobuf_most_fds);
  REAL(closefrom)(from);
}

static int copied(int fd, int copy) {
  if (copy < 0) return copy;
  const int error = errno;
  iobuf_forget_kind(copy);
  iobuf_copied(fd, copy);
  errno = error;
  return copy;
}
IOBUF_PUBLIC int dup(int fd) { return copied(fd, REAL(dup)(fd)); }
static int forget_target(int fd, int copy) {
  if (fd == copy || REAL(fcntl)(fd, F_GETFD) < 0) return 0;
  iobuf_publish_under_lock();
  if (copy >= 0) iobuf_forget_silently(copy);
  return 1;
}
IOBUF_PUBLIC int dup2(int fd, int copy) {
  if (!forget_target(fd, copy)) return REAL(dup2)(fd, copy);
  return copied(fd, REAL(dup2)(fd, copy));
}
int __dup2(int fd, int copy) __THROW;
IOBUF_PUBLIC int __dup2(int fd, int copy) ALIAS(dup2);
IOBUF_PUBLIC int dup3(int fd, int copy, int flags) {
  if (!forget_target(fd, copy)) return REAL(dup3)(fd, copy, flags);
  return copied(fd, REAL(dup3)(fd, copy, flags));
}

static int set_flags(int fd, void* argument) {
  struct iobuf_description* const d = iobuf_enter(fd);
  if (d == NULL) return REAL(fcntl)(fd, F_SETFL, argument);
  struct iobuf_file* const file = d->file;
  iobuf_begin_pause(file);
  const int result = REAL(fcntl)(fd, F_SETFL, argument), flags = (int)(intptr_t)argument;
  if (result == 0 && iobuf_slots[fd] == d) d->appends = (flags & O_APPEND) != 0;
  iobuf_end_pause(file);
  if (result == 0 && (flags & O_DIRECT) != 0) iobuf_step_aside(file, iobuf_by_flags);
  iobuf_unlock(file);
  return result;
}

/// Who locks shares the file, or another one with this lock, with other processes.
static void before_lock(int fd) {
  iobuf_locks = 1;
  iobuf_step_aside_fd(fd, iobuf_by_lock);
  iobuf_publish();
}

IOBUF_PUBLIC int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      return copied(fd, REAL(fcntl)(fd, command, argument));
    case F_SETFL:
      return set_flags(fd, argument);
    case F_SETLK:
    case F_SETLKW:
    case F_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
    case F_OFD_GETLK:
    case F_SETLEASE: {
      before_lock(fd);
      const int result = REAL(fcntl)(fd, command, argument);
      iobuf_heard();
      return result;
    }
    default:
      return REAL(fcntl)(fd, command, argument);
  }
}
IOBUF_PUBLIC int fcntl64(int fd, int command, ...) ALIAS(fcntl);
int __fcntl(int fd, int command, ...);
IOBUF_PUBLIC int __fcntl(int fd, int command, ...) ALIAS(fcntl);
IOBUF_PUBLIC int flock(int fd, int operation) {
  before_lock(fd);
  const int result = REAL(flock)(fd, operation);
  iobuf_heard();
  return result;
}
IOBUF_PUBLIC int lockf(int fd, int command, off_t n) {
  before_lock(fd);
  const int result = REAL(lockf)(fd, command, n);
  iobuf_heard();
  return result;
}
IOBUF_PUBLIC int lockf64(int fd, int command, off64_t n) ALIAS(lockf);

// A stream of the C library has a buffer of its own, and calls the system past all libraries. Its file steps aside.

static int to_stream(int fd) {
  iobuf_step_aside_fd(fd, iobuf_by_stream);
  return fd;
}
static void before_stream(const char* path) {
  struct stat st;
  if (iobuf_files_used == 0 || path == NULL || iobuf_sys_stat(AT_FDCWD, path, &st, 0) != 0) return;
  struct iobuf_file* const file = iobuf_find(&st);
  if (file == NULL) return;
  iobuf_step_aside(file, iobuf_by_stream);
  iobuf_unlock(file);
}
static FILE* opened_stream(FILE* stream, const char* path) {
  if (stream != NULL) iobuf_opened(fileno(stream), path, iobuf_by_stream);
  return stream;
}
/// libstdc++ opens a file as a stream, but then calls read, write and lseek with its descriptor.
static int is_of_cxx(const void* caller) {
  Dl_info found;
  if (dladdr(caller, &found) == 0 || found.dli_fname == NULL) return 0;
  const char* const slash = strrchr(found.dli_fname, '/');
  return strncmp(slash != NULL ? slash + 1 : found.dli_fname, "libstdc++.so", 12) == 0;
}
static FILE* open_for_cxx(const char* path, const char* mode) {
  if (*mode != 'r') iobuf_publish();
  struct iobuf_file* const file = strchr(mode, 'w') != NULL ? before_truncation(AT_FDCWD, path) : NULL;
  const int before = file != NULL ? iobuf_begin_uncancelled() : 0;
  FILE* const stream = REAL(fopen)(path, mode);
  if (file != NULL) {
    iobuf_unlock(file);
    iobuf_end_uncancelled(before);
  }
  if (stream != NULL) iobuf_opened(fileno(stream), path, 0);
  return stream;
}
IOBUF_PUBLIC FILE* fopen(const char* path, const char* mode) {
  if (is_of_cxx(__builtin_return_address(0))) return open_for_cxx(path, mode);
  if (*mode != 'r') iobuf_publish();
  before_stream(path);
  return opened_stream(REAL(fopen)(path, mode), path);
}
IOBUF_PUBLIC FILE* freopen(const char* path, const char* mode, FILE* stream) {
  iobuf_publish_under_lock();
  before_stream(path);
  if (stream != NULL && fileno(stream) >= 0) iobuf_forget_silently(fileno(stream));
  return opened_stream(REAL(freopen)(path, mode, stream), path);
}
IOBUF_PUBLIC FILE* tmpfile(void) { return opened_stream(REAL(tmpfile)(), NULL); }
IOBUF_PUBLIC FILE* fopen64(const char* path, const char* mode) ALIAS(fopen);
IOBUF_PUBLIC FILE* freopen64(const char* path, const char* mode, FILE* stream) ALIAS(freopen);
IOBUF_PUBLIC FILE* tmpfile64(void) ALIAS(tmpfile);
IOBUF_PUBLIC FILE* fdopen(int fd, const char* mode) { return REAL(fdopen)(to_stream(fd), mode); }
IOBUF_PUBLIC int fclose(FILE* stream) {
  iobuf_publish_under_lock();
  const int fd = stream != NULL ? fileno(stream) : -1;
  const int error = fd >= 0 ? iobuf_forget(fd) : 0;
  if (fd >= 0) iobuf_forget_kind(fd);
  const int result = REAL(fclose)(stream);
  if (result != 0 || error == 0) return result;
  errno = error;
  return EOF;
}

// Asynchronous I/O of the C library.
IOBUF_PUBLIC int aio_read(struct aiocb* control) {
  iobuf_step_aside_fd(control->aio_fildes, iobuf_by_other);
  return REAL(aio_read)(control);
}
IOBUF_PUBLIC int aio_write(struct aiocb* control) {
  iobuf_step_aside_fd(control->aio_fildes, iobuf_by_other);
  return REAL(aio_write)(control);
}
IOBUF_PUBLIC int aio_fsync(int operation, struct aiocb* control) {
  iobuf_step_aside_fd(control->aio_fildes, iobuf_by_other);
  return REAL(aio_fsync)(operation, control);
}
IOBUF_PUBLIC int lio_listio(int mode, struct aiocb* const list[], int count, struct sigevent* event) {
  for (int k = 0; k < count; ++k) {
    if (list[k] != NULL) iobuf_step_aside_fd(list[k]->aio_fildes, iobuf_by_other);
  }
  return REAL(lio_listio)(mode, list, count, event);
}
int aio_read64(struct aiocb64*);
int aio_write64(struct aiocb64*);
int aio_fsync64(int, struct aiocb64*);
IOBUF_PUBLIC int aio_read64(struct aiocb64* control) { return aio_read((struct aiocb*)control); }
IOBUF_PUBLIC int aio_write64(struct aiocb64* control) { return aio_write((struct aiocb*)control); }
IOBUF_PUBLIC int aio_fsync64(int operation, struct aiocb64* control) {
  return aio_fsync(operation, (struct aiocb*)control);
}
IOBUF_PUBLIC int lio_listio64(int mode, struct aiocb64* const list[], int count, struct sigevent* event) {
  return lio_listio(mode, (struct aiocb* const*)list, count, event);
}
