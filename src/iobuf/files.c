// Calls that look at a file, change it as a whole, or move its bytes inside the system.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

#define ALIAS(name) __attribute__((alias(#name)))

static off_t end_of(struct iobuf_file* file, int fd) {
  struct stat st;
  if (iobuf_sys_fstat(fd, &st) != 0) return -1;
  const off_t own = iobuf_dirty_end(file);
  return own > st.st_size ? own : st.st_size;
}

static off_t seek(struct iobuf_description* d, int fd, off_t by, int whence) {
  off_t from = 0, to = 0;
  if (whence == SEEK_CUR) from = d->offset;
  if (whence == SEEK_END) from = end_of(d->file, fd);
  if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) {
    iobuf_flush(d->file);
    to = iobuf_sys_lseek(fd, by, whence);
    if (to < 0) return -1;
  } else if (__builtin_add_overflow(from, by, &to)) {
    errno = EOVERFLOW;
    return -1;
  } else if (to < 0) {
    errno = EINVAL;
    return -1;
  }
  return d->offset = to;
}

IOBUF_PUBLIC off_t lseek(int fd, off_t by, int whence) {
  struct iobuf_description* const d = iobuf_enter_offset(fd);
  if (d == NULL) return REAL(lseek)(fd, by, whence);
  const off_t to = seek(d, fd, by, whence);
  iobuf_leave_offset(d);
  return to;
}
IOBUF_PUBLIC off64_t lseek64(int fd, off64_t by, int whence) ALIAS(lseek);
off_t __lseek(int fd, off_t by, int whence) __THROW;
IOBUF_PUBLIC off_t __lseek(int fd, off_t by, int whence) ALIAS(lseek);

/// With empty buffers.
#define ALONE(fd, call)                                \
  struct iobuf_description* const d = iobuf_enter(fd); \
  if (d == NULL) return call;                          \
  struct iobuf_file* const file = d->file;             \
  iobuf_drop(file);                                    \
  const int before_ = iobuf_begin_uncancelled();       \
  const int result = (int)(call);                      \
  iobuf_end_uncancelled(before_);                      \
  iobuf_unlock(file);                                  \
  return result

IOBUF_PUBLIC int ftruncate(int fd, off_t bytes) { ALONE(fd, REAL(ftruncate)(fd, bytes)); }
IOBUF_PUBLIC int ftruncate64(int fd, off64_t bytes) ALIAS(ftruncate);
IOBUF_PUBLIC int fallocate(int fd, int mode, off_t at, off_t n) { ALONE(fd, REAL(fallocate)(fd, mode, at, n)); }
IOBUF_PUBLIC int fallocate64(int fd, int mode, off64_t at, off64_t n) ALIAS(fallocate);
IOBUF_PUBLIC int posix_fallocate(int fd, off_t at, off_t n) { ALONE(fd, REAL(posix_fallocate)(fd, at, n)); }
IOBUF_PUBLIC int posix_fallocate64(int fd, off64_t at, off64_t n) ALIAS(posix_fallocate);
IOBUF_PUBLIC int posix_fadvise(int fd, off_t at, off_t n, int advice) {
  if (advice != POSIX_FADV_DONTNEED) return REAL(posix_fadvise)(fd, at, n, advice);
  ALONE(fd, REAL(posix_fadvise)(fd, at, n, advice));
}
IOBUF_PUBLIC int posix_fadvise64(int fd, off64_t at, off64_t n, int advice) ALIAS(posix_fadvise);
IOBUF_PUBLIC int sync_file_range(int fd, off64_t at, off64_t n, unsigned flags) {
  ALONE(fd, REAL(sync_file_range)(fd, at, n, flags));
}

IOBUF_PUBLIC int truncate(const char* path, off_t bytes) {
  struct stat st;
  struct iobuf_file* const file = iobuf_sys_stat(AT_FDCWD, path, &st, 0) == 0 ? iobuf_find(&st) : NULL;
  if (file != NULL) iobuf_drop(file);
  const int result = REAL(truncate)(path, bytes);
  if (file != NULL) iobuf_unlock(file);
  return result;
}
IOBUF_PUBLIC int truncate64(const char* path, off64_t bytes) ALIAS(truncate);

/// Later reads ask the system again: MPI_File_sync relies on it. 0, or -1 with errno.
static int synchronize(int fd) {
  if (iobuf_inside != 0) iobuf_publish();  // a signal handler that has interrupted this library
  struct iobuf_description* const d = iobuf_enter(fd);
  if (d == NULL) return iobuf_report_late_error(fd);
  struct iobuf_file* const file = d->file;
  iobuf_drop(file);
  const int result = iobuf_report_error(file);
  iobuf_unlock(file);
  return result;
}
IOBUF_PUBLIC int fsync(int fd) { return synchronize(fd) != 0 ? -1 : REAL(fsync)(fd); }
IOBUF_PUBLIC int fdatasync(int fd) { return synchronize(fd) != 0 ? -1 : REAL(fdatasync)(fd); }
IOBUF_PUBLIC void sync(void) {
  iobuf_publish();
  REAL(sync)();
}
IOBUF_PUBLIC int syncfs(int fd) {
  iobuf_publish();
  return REAL(syncfs)(fd);
}

/// 1: what was asked of the system can be outdated. Ask again.
static int was_flushed(const struct stat* st) {
  struct iobuf_file* const file = S_ISREG(st->st_mode) ? iobuf_find(st) : NULL;
  if (file == NULL) return 0;
  iobuf_flush(file);
  iobuf_unlock(file);
  return 1;
}
static int status(int folder, const char* path, struct stat* st, int flags) {
  const int dirty = iobuf_dirty_files > 0;  // before the call: the thread in the background writes meanwhile
  const int result = iobuf_sys_stat(folder, path, st, flags);
  return result == 0 && dirty && was_flushed(st) ? iobuf_sys_stat(folder, path, st, flags) : result;
}
IOBUF_PUBLIC int stat(const char* path, struct stat* st) { return status(AT_FDCWD, path, st, 0); }
IOBUF_PUBLIC int lstat(const char* path, struct stat* st) { return status(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW); }
IOBUF_PUBLIC int fstatat(int folder, const char* path, struct stat* st, int flags) {
  return status(folder, path, st, flags);
}
IOBUF_PUBLIC int fstat(int fd, struct stat* st) {
  const int dirty = iobuf_dirty_files > 0;
  const int result = iobuf_sys_fstat(fd, st);
  return result == 0 && dirty && was_flushed(st) ? iobuf_sys_fstat(fd, st) : result;
}
IOBUF_PUBLIC int stat64(const char* path, struct stat64* st) { return stat(path, (struct stat*)st); }
IOBUF_PUBLIC int lstat64(const char* path, struct stat64* st) { return lstat(path, (struct stat*)st); }
IOBUF_PUBLIC int fstat64(int fd, struct stat64* st) { return fstat(fd, (struct stat*)st); }
IOBUF_PUBLIC int fstatat64(int folder, const char* path, struct stat64* st, int flags) {
  return fstatat(folder, path, (struct stat*)st, flags);
}
// Programs that were built with glibc before 2.33 call these.
int __xstat(int version, const char* path, struct stat* st);
int __lxstat(int version, const char* path, struct stat* st);
int __fxstat(int version, int fd, struct stat* st);
int __fxstatat(int version, int folder, const char* path, struct stat* st, int flags);
IOBUF_PUBLIC int __xstat(int version, const char* path, struct stat* st) {
  (void)version;
  return stat(path, st);
}
IOBUF_PUBLIC int __lxstat(int version, const char* path, struct stat* st) {
  (void)version;
  return lstat(path, st);
}
IOBUF_PUBLIC int __fxstat(int version, int fd, struct stat* st) {
  (void)version;
  return fstat(fd, st);
}
IOBUF_PUBLIC int __fxstatat(int version, int folder, const char* path, struct stat* st, int flags) {
  (void)version;
  return fstatat(folder, path, st, flags);
}
int __xstat64(int version, const char* path, struct stat64* st);
int __lxstat64(int version, const char* path, struct stat64* st);
int __fxstat64(int version, int fd, struct stat64* st);
int __fxstatat64(int version, int folder, const char* path, struct stat64* st, int flags);
IOBUF_PUBLIC int __xstat64(int version, const char* path, struct stat64* st) {
  (void)version;
  return stat64(path, st);
}
IOBUF_PUBLIC int __lxstat64(int version, const char* path, struct stat64* st) {
  (void)version;
  return lstat64(path, st);
}
IOBUF_PUBLIC int __fxstat64(int version, int fd, struct stat64* st) {
  (void)version;
  return fstat64(fd, st);
}
IOBUF_PUBLIC int __fxstatat64(int version, int folder, const char* path, struct stat64* st, int flags) {
  (void)version;
  return fstatat64(folder, path, st, flags);
}

IOBUF_PUBLIC int statx(int folder, const char* path, int flags, unsigned mask, struct statx* st) {
  iobuf_publish();
  return REAL(statx)(folder, path, flags, mask, st);
}

// Other libraries watch mappings, too. A library for memory calls these before ours has begun; then dlsym could call
// it.
static void* (*_Atomic map_by)(void*, size_t, int, int, int, off_t);
static int (*_Atomic unmap_by)(void*, size_t);
void iobuf_begin_mappings(void) {
  map_by = REAL(mmap);
  unmap_by = REAL(munmap);
}
static void* map(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  if (map_by != NULL) return map_by(at, bytes, protection, flags, fd, offset);
  return (void*)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}
static int unmap(void* at, size_t bytes) {
  return unmap_by != NULL ? unmap_by(at, bytes) : (int)syscall(SYS_munmap, at, bytes);
}

IOBUF_PUBLIC void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  const int of_file = fd >= 0 && (flags & MAP_ANONYMOUS) == 0;
  if (of_file) iobuf_step_aside_fd(fd, iobuf_by_mapping);
  void* const mapped = map(at, bytes, protection, flags, fd, offset);
  if (of_file && mapped != MAP_FAILED) iobuf_mapped(fd, mapped, bytes);
  return mapped;
}
IOBUF_PUBLIC void* mmap64(void* at, size_t bytes, int protection, int flags, int fd, off64_t offset) ALIAS(mmap);
IOBUF_PUBLIC int munmap(void* at, size_t bytes) { return iobuf_unmap(at, bytes, unmap); }

// Inside the system, bytes move from and to the offset that the system knows. These files step aside.
#define INSIDE(in, out, call)               \
  iobuf_told(out);                          \
  iobuf_step_aside_fd(in, iobuf_by_other);  \
  iobuf_step_aside_fd(out, iobuf_by_other); \
  return call
IOBUF_PUBLIC ssize_t sendfile(int out, int in, off_t* at, size_t n) { INSIDE(in, out, REAL(sendfile)(out, in, at, n)); }
IOBUF_PUBLIC ssize_t sendfile64(int out, int in, off64_t* at, size_t n) ALIAS(sendfile);
IOBUF_PUBLIC ssize_t copy_file_range(int in, off64_t* in_at, int out, off64_t* out_at, size_t n, unsigned flags) {
  INSIDE(in, out, REAL(copy_file_range)(in, in_at, out, out_at, n, flags));
}
IOBUF_PUBLIC ssize_t splice(int in, off64_t* in_at, int out, off64_t* out_at, size_t n, unsigned flags) {
  INSIDE(in, out, REAL(splice)(in, in_at, out, out_at, n, flags));
}
/// Whether a program does not change a file or use its offset thereby: is it a terminal?
static int asks(unsigned long request) { return request == TCGETS || request == FIOCLEX || request == FIONCLEX; }
/// A clone of a file names the other one in its argument.
IOBUF_PUBLIC int ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  const int of_file = (unsigned)fd < iobuf_most_fds && iobuf_slots[fd] != NULL;
  if (of_file) iobuf_publish();
  if (of_file && !asks(request)) iobuf_step_aside_fd(fd, iobuf_by_other);
  return REAL(ioctl)(fd, request, argument);
}
