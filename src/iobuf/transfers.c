// read, write and their relatives.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

enum { current = -1 };  // as an offset: where the description is

static const size_t most_bytes = 0x7ffff000;  // of one call, in Linux

static ssize_t failed(int error) {
  errno = error;
  return -1;
}

/// The number of bytes; -1 with errno.
static ssize_t check(const struct iovec* parts, int count, off_t at) {
  if (count < 0 || count > IOV_MAX || at < current) return failed(EINVAL);
  size_t bytes = 0;
  for (int k = 0; k < count; ++k) {
    if (parts[k].iov_len > (size_t)SSIZE_MAX - bytes) return failed(EINVAL);
    bytes += parts[k].iov_len;
  }
  return (ssize_t)bytes;
}

static void advance(struct iobuf_description* d, ssize_t n) {
  if (n > 0) d->offset += n;
}

static ssize_t read_by(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at) {
  if (!d->reads) return failed(EBADF);
  const ssize_t bytes = check(parts, count, at);
  if (bytes <= 0) return bytes;
  const ssize_t n = iobuf_read(d, fd, parts, count, at == current ? d->offset : at);
  if (at == current) advance(d, n);
  return n;
}

/// The system knows the end of the file, where others may append, too.
static ssize_t append(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at) {
  iobuf_flush(d->file);
  if (iobuf_report_error(d->file) != 0) return -1;
  ++d->file->counts.system_writes;
  const ssize_t n =
      at == current ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, at, 0);
  if (at == current && n > 0) d->offset = iobuf_sys_lseek(fd, 0, SEEK_CUR);
  ++d->file->counts.writes;
  d->file->counts.written_bytes += n > 0 ? (uint64_t)n : 0;
  return n;
}

static ssize_t write_part(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at) {
  if (!d->writes) return failed(EBADF);
  const ssize_t bytes = check(parts, count, at);
  if (bytes <= 0) return bytes;
  if (d->appends) return append(d, fd, parts, count, at);
  const off_t begin = at == current ? d->offset : at;
  if (begin > INT64_MAX - bytes) return failed(EFBIG);
  const ssize_t n = iobuf_write(d, fd, parts, count, begin);
  if (at == current) advance(d, n);
  return n;
}

static ssize_t write_by(struct iobuf_description* d, int fd, const struct iovec* parts, int count, off_t at) {
  struct iobuf_file* const file = d->file;
  ++file->writing;
  const ssize_t n = write_part(d, fd, parts, count, at);
  --file->writing;
  if (file->waiting > 0) pthread_cond_broadcast(&file->changed);
  return n;
}

static struct iobuf_description* enter(int fd, off_t at, int writes) {
  if (at == current) return iobuf_enter_offset(fd);
  return writes ? iobuf_enter_place(fd) : iobuf_enter(fd);
}

#define BUFFERED(by, parts, count, at)                               \
  struct iobuf_description* const d = enter(fd, at, by == write_by); \
  if (d != NULL) {                                                   \
    struct iobuf_file* const file = d->file;                         \
    const ssize_t n_ = by(d, fd, parts, count, at);                  \
    if (at == current) iobuf_leave_offset(d);                        \
    else iobuf_unlock(file);                                         \
    return n_;                                                       \
  }
/// Of another descriptor: after it, this process may know more.
#define HEARD(call)                                   \
  const ssize_t got = call;                           \
  if (got > 0 && iobuf_is_message(fd)) iobuf_heard(); \
  return got

static struct iovec part(const void* at, size_t n) {
  return (struct iovec){(void*)at, n < most_bytes ? n : most_bytes};
}

IOBUF_PUBLIC ssize_t read(int fd, void* to, size_t n) {
  const struct iovec one = part(to, n);
  BUFFERED(read_by, &one, 1, current)
  HEARD(REAL(read)(fd, to, n));
}
IOBUF_PUBLIC ssize_t write(int fd, const void* from, size_t n) {
  const struct iovec one = part(from, n);
  BUFFERED(write_by, &one, 1, current)
  if (iobuf_must_wait(fd)) return iobuf_write_later(fd, &one, 1, current);
  if (iobuf_report_late_error(fd) != 0) return -1;
  iobuf_told(fd);
  return REAL(write)(fd, from, n);
}
IOBUF_PUBLIC ssize_t pread(int fd, void* to, size_t n, off_t at) {
  const struct iovec one = part(to, n);
  if (at >= 0) {
    BUFFERED(read_by, &one, 1, at)
  }
  return REAL(pread)(fd, to, n, at);
}
IOBUF_PUBLIC ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  const struct iovec one = part(from, n);
  if (at >= 0) {
    BUFFERED(write_by, &one, 1, at)
  }
  if (at >= 0 && iobuf_must_wait(fd)) return iobuf_write_later(fd, &one, 1, at);
  if (iobuf_report_late_error(fd) != 0) return -1;
  return REAL(pwrite)(fd, from, n, at);
}
IOBUF_PUBLIC ssize_t readv(int fd, const struct iovec* parts, int count) {
  BUFFERED(read_by, parts, count, current)
  HEARD(REAL(readv)(fd, parts, count));
}
IOBUF_PUBLIC ssize_t writev(int fd, const struct iovec* parts, int count) {
  BUFFERED(write_by, parts, count, current)
  if (iobuf_must_wait(fd)) return iobuf_write_later(fd, parts, count, current);
  if (iobuf_report_late_error(fd) != 0) return -1;
  iobuf_told(fd);
  return REAL(writev)(fd, parts, count);
}
IOBUF_PUBLIC ssize_t preadv(int fd, const struct iovec* parts, int count, off_t at) {
  if (at >= 0) {
    BUFFERED(read_by, parts, count, at)
  }
  return REAL(preadv)(fd, parts, count, at);
}
IOBUF_PUBLIC ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t at) {
  if (at >= 0) {
    BUFFERED(write_by, parts, count, at)
  }
  if (at >= 0 && iobuf_must_wait(fd)) return iobuf_write_later(fd, parts, count, at);
  if (iobuf_report_late_error(fd) != 0) return -1;
  return REAL(pwritev)(fd, parts, count, at);
}
// Flags ask for something that a buffer does not give.
IOBUF_PUBLIC ssize_t preadv2(int fd, const struct iovec* parts, int count, off_t at, int flags) {
  if (flags != 0) {
    iobuf_step_aside_fd(fd, iobuf_by_flags);
  } else if (at >= current) {
    BUFFERED(read_by, parts, count, at)
  }
  return REAL(preadv2)(fd, parts, count, at, flags);
}
IOBUF_PUBLIC ssize_t pwritev2(int fd, const struct iovec* parts, int count, off_t at, int flags) {
  if (flags != 0) {
    iobuf_step_aside_fd(fd, iobuf_by_flags);
  } else if (at >= current) {
    BUFFERED(write_by, parts, count, at)
    if (iobuf_must_wait(fd)) return iobuf_write_later(fd, parts, count, at);
  }
  if (iobuf_report_late_error(fd) != 0) return -1;
  if (at == current) iobuf_told(fd);
  return REAL(pwritev2)(fd, parts, count, at, flags);
}

#define ALIAS(name) __attribute__((alias(#name)))
IOBUF_PUBLIC ssize_t pread64(int fd, void* to, size_t n, off64_t at) ALIAS(pread);
IOBUF_PUBLIC ssize_t pwrite64(int fd, const void* from, size_t n, off64_t at) ALIAS(pwrite);
IOBUF_PUBLIC ssize_t preadv64(int fd, const struct iovec* parts, int count, off64_t at) ALIAS(preadv);
IOBUF_PUBLIC ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t at) ALIAS(pwritev);
IOBUF_PUBLIC ssize_t preadv64v2(int fd, const struct iovec* parts, int count, off64_t at, int flags) ALIAS(preadv2);
IOBUF_PUBLIC ssize_t pwritev64v2(int fd, const struct iovec* parts, int count, off64_t at, int flags) ALIAS(pwritev2);

// Compilers call these with _FORTIFY_SOURCE.
ssize_t __read_chk(int fd, void* to, size_t n, size_t room);
ssize_t __pread_chk(int fd, void* to, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void* to, size_t n, off_t at, size_t room);
IOBUF_PUBLIC ssize_t __read_chk(int fd, void* to, size_t n, size_t room) {
  return n <= room ? read(fd, to, n) : REAL(__read_chk)(fd, to, n, room);
}
IOBUF_PUBLIC ssize_t __pread_chk(int fd, void* to, size_t n, off_t at, size_t room) {
  return n <= room ? pread(fd, to, n, at) : REAL(__pread_chk)(fd, to, n, at, room);
}
IOBUF_PUBLIC ssize_t __pread64_chk(int fd, void* to, size_t n, off_t at, size_t room) ALIAS(__pread_chk);

// Messages. A descriptor in one leads to the same description in another process.
static void step_sent_aside(const struct msghdr* message) {
  if (message == NULL || message->msg_control == NULL) return;
  for (struct cmsghdr* c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR((struct msghdr*)message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const int* const fds = (const int*)CMSG_DATA(c);
    for (size_t k = 0; k < (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds; ++k) iobuf_step_aside_fd(fds[k], iobuf_by_other);
  }
}
IOBUF_PUBLIC ssize_t send(int fd, const void* from, size_t n, int flags) {
  iobuf_publish();
  return REAL(send)(fd, from, n, flags);
}
IOBUF_PUBLIC ssize_t sendto(int fd, const void* from, size_t n, int flags, const struct sockaddr* to, socklen_t bytes) {
  iobuf_publish();
  return REAL(sendto)(fd, from, n, flags, to, bytes);
}
IOBUF_PUBLIC ssize_t sendmsg(int fd, const struct msghdr* message, int flags) {
  iobuf_publish();
  step_sent_aside(message);
  return REAL(sendmsg)(fd, message, flags);
}
IOBUF_PUBLIC ssize_t recv(int fd, void* to, size_t n, int flags) { HEARD(REAL(recv)(fd, to, n, flags)); }
IOBUF_PUBLIC ssize_t recvfrom(int fd, void* to, size_t n, int flags, struct sockaddr* from, socklen_t* bytes) {
  HEARD(REAL(recvfrom)(fd, to, n, flags, from, bytes));
}
/// They lead to files that this process may buffer, and their offsets are shared.
static void add_received(const struct msghdr* message) {
  for (struct cmsghdr* c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR((struct msghdr*)message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const int* const fds = (const int*)CMSG_DATA(c);
    for (size_t k = 0; k < (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds; ++k) iobuf_opened(fds[k], NULL, iobuf_by_process);
  }
}
IOBUF_PUBLIC ssize_t recvmsg(int fd, struct msghdr* message, int flags) {
  const ssize_t got = REAL(recvmsg)(fd, message, flags);
  if (got >= 0) add_received(message);
  if (got > 0) iobuf_heard();
  return got;
}

IOBUF_PUBLIC int sendmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags) {
  iobuf_publish();
  for (unsigned k = 0; k < count; ++k) step_sent_aside(&messages[k].msg_hdr);
  return REAL(sendmmsg)(fd, messages, count, flags);
}
IOBUF_PUBLIC int recvmmsg(int fd, struct mmsghdr* messages, unsigned count, int flags, struct timespec* most) {
  const int got = REAL(recvmmsg)(fd, messages, count, flags, most);
  for (int k = 0; k < got; ++k) add_received(&messages[k].msg_hdr);
  if (got > 0) iobuf_heard();
  return got;
}
IOBUF_PUBLIC ssize_t vmsplice(int fd, const struct iovec* parts, size_t count, unsigned flags) {
  iobuf_publish();
  return REAL(vmsplice)(fd, parts, count, flags);
}
IOBUF_PUBLIC ssize_t tee(int in, int out, size_t n, unsigned flags) {
  iobuf_publish();
  return REAL(tee)(in, out, n, flags);
}
IOBUF_PUBLIC int eventfd_write(int fd, eventfd_t value) {
  iobuf_publish();
  return REAL(eventfd_write)(fd, value);
}
IOBUF_PUBLIC int eventfd_read(int fd, eventfd_t* value) {
  const int result = REAL(eventfd_read)(fd, value);
  iobuf_heard();
  return result;
}

// Other names of the C library.
ssize_t __read(int fd, void* to, size_t n);
ssize_t __write(int fd, const void* from, size_t n);
ssize_t __pread64(int fd, void* to, size_t n, off_t at);
ssize_t __pwrite64(int fd, const void* from, size_t n, off_t at);
IOBUF_PUBLIC ssize_t __read(int fd, void* to, size_t n) ALIAS(read);
IOBUF_PUBLIC ssize_t __write(int fd, const void* from, size_t n) ALIAS(write);
IOBUF_PUBLIC ssize_t __pread64(int fd, void* to, size_t n, off_t at) ALIAS(pread);
IOBUF_PUBLIC ssize_t __pwrite64(int fd, const void* from, size_t n, off_t at) ALIAS(pwrite);
