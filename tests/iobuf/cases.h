// Small programs that once lost or overwrote bytes. Each is called in an empty folder.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(condition)                                                         \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno); \
      syscall(SYS_exit_group, 1);                                               \
    }                                                                           \
  } while (0)

/// The view of other processes: past all libraries. A file that does not exist is empty.
static inline long seen(const char* path, char* bytes, size_t room) {
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  const long n = fd < 0 ? 0 : syscall(SYS_read, fd, bytes, room - 1);
  if (fd >= 0) syscall(SYS_close, fd);
  bytes[n > 0 ? n : 0] = '\0';
  return n;
}
static inline int sees(const char* path, const char* text) {
  char bytes[4096];
  return seen(path, bytes, sizeof bytes) == (long)strlen(text) && strcmp(bytes, text) == 0;
}
static inline int make(const char* path) { return open(path, O_CREAT | O_TRUNC | O_RDWR, 0644); }
