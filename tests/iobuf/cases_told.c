// Calls that tell another process something, and other names of calls.
#include "cases_told.h"
#include "cases.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>

ssize_t __read(int fd, void* to, size_t n);
ssize_t __write(int fd, const void* from, size_t n);
ssize_t __pread64(int fd, void* to, size_t n, off_t at);
ssize_t __pwrite64(int fd, const void* from, size_t n, off_t at);
int __open64(const char* path, int flags, ...);
int __close(int fd);
int __dup2(int fd, int copy);
int __fcntl(int fd, int command, ...);

void other_names_are_the_same_calls(void) {
  char bytes[8] = "";
  MUST(__close(__open64("a", O_CREAT | O_RDWR, 0644)) == 0);
  const int fd = make("a");
  MUST(write(fd, "12", 2) == 2 && __write(fd, "34", 2) == 2 && write(fd, "56", 2) == 2);
  MUST(__pwrite64(fd, "x", 1, 1) == 1 && pread(fd, bytes, 3, 0) == 3 && strcmp(bytes, "1x3") == 0);
  MUST(__pread64(fd, bytes, 2, 4) == 2 && strcmp(bytes, "563") == 0);
  const int copy = __fcntl(fd, F_DUPFD, 100);
  MUST(copy >= 100 && __dup2(copy, fd) == fd && write(copy, "7", 1) == 1 && write(fd, "8", 1) == 1);
  MUST(lseek(fd, 5, SEEK_SET) == 5 && __read(copy, bytes, 3) == 3 && strcmp(bytes, "678") == 0);
  MUST(__close(fd) == 0 && close(copy) == 0 && sees("a", "1x345678"));
}

void messages_tell_others(void) {
  int ends[2];
  const int fd = make("a"), events = eventfd(0, 0);
  eventfd_t value;
  MUST(write(fd, "1", 1) == 1 && eventfd_write(events, 1) == 0 && sees("a", "1"));
  MUST(eventfd_read(events, &value) == 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  struct iovec part = {"m", 1};
  struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
  MUST(write(fd, "2", 1) == 1 && sendmmsg(ends[0], &message, 1, 0) == 1 && sees("a", "12"));
  MUST(pipe(ends) == 0);
  MUST(write(fd, "3", 1) == 1 && vmsplice(ends[1], &part, 1, 0) == 1 && sees("a", "123"));
}

/// In two processes: the second one gets a descriptor above all that a program usually has.
void a_descriptor_is_inherited(void) {
  char* const words[] = {"cases", "a_descriptor_was_inherited", NULL};
  MUST(dup2(make("a"), 300) == 300);
  execv("/proc/self/exe", words);
  MUST(0);
}
void a_descriptor_was_inherited(void) {
  char byte = '-';
  if (fcntl(300, F_GETFD) < 0) return;
  const int fd = open("a", O_RDWR);
  MUST(write(fd, "1", 1) == 1 && read(300, &byte, 1) == 1 && byte == '1');
}

/// Others have read "old" through the same buffers, and a pipe says that it is "new" now. The times of a file system
/// with whole seconds do not say so.
void a_coarse_clock_hides_a_change(void) {
  const struct timespec whole[2] = {{1000000000, 0}, {1000000000, 0}};
  char bytes[4] = "";
  int ends[2];
  const int fd = make("a");
  MUST(pwrite(fd, "1234old", 7, 0) == 7 && fsync(fd) == 0 && futimens(fd, whole) == 0 && pipe(ends) == 0);
  for (int k = 0; k < 4; ++k) MUST(pread(fd, bytes, 1, k) == 1);
  const int past = (int)syscall(SYS_openat, AT_FDCWD, "a", O_WRONLY, 0);
  MUST(syscall(SYS_pwrite64, past, "new", 3, 4) == 3);
  MUST(syscall(SYS_utimensat, past, NULL, whole, 0) == 0 && syscall(SYS_write, ends[1], "1", 1) == 1);
  MUST(read(ends[0], bytes, 1) == 1 && pread(fd, bytes, 3, 4) == 3 && strcmp(bytes, "new") == 0);
}

/// The thread in the background has much to do, and no other call tells it to write this byte.
void a_byte_waits_no_longer_than_the_delay(void) {
  static char bytes[20000];
  const int fd = make("a"), busy = make("b");
  MUST(write(fd, "1", 1) == 1);
  const char* const delay = getenv("CULMEN_IOBUF_DELAY_MS");
  if (delay == NULL || strlen(delay) > 3) MUST(fsync(fd) == 0);
  while (!sees("a", "1")) MUST(pwrite(busy, bytes, sizeof bytes, lseek(busy, sizeof bytes, SEEK_CUR) % (64 << 20)) > 0);
}

/// Sent past the library, as if by another process, which shares the offset.
void a_descriptor_comes_in_a_message(void) {
  int ends[2], second = open("a", O_CREAT | O_RDWR, 0644), got;
  char room[CMSG_SPACE(sizeof second)] = "", byte = '-';
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  struct cmsghdr* const control = CMSG_FIRSTHDR(&message);
  control->cmsg_level = SOL_SOCKET, control->cmsg_type = SCM_RIGHTS, control->cmsg_len = CMSG_LEN(sizeof second);
  memcpy(CMSG_DATA(control), &second, sizeof second);
  MUST(syscall(SYS_sendmsg, ends[0], &message, 0) == 1 && close(second) == 0);
  const int fd = open("a", O_RDWR);
  MUST(recvmsg(ends[1], &message, 0) == 1);
  memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof got);
  MUST(write(fd, "1", 1) == 1 && read(got, &byte, 1) == 1 && byte == '1');
  MUST(write(got, "2", 1) == 1 && pread(fd, &byte, 1, 1) == 1 && byte == '2' && sees("a", "12"));
}
