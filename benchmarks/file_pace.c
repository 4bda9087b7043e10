// Small calls on one file, in sequence.
//
//   file_pace FOLDER write|read CALL_BYTES[,CALL_BYTES…] FILE_BYTES
//
// Several numbers: the sizes of the calls of one record, of which the file is full. read: the file is written before,
// and dropped from the cache of the system. Prints one JSON line.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int fail(const char* what) {
  perror(what);
  return 1;
}

/// Past preloaded libraries, so that both runs begin alike.
static int make(const char* path, size_t bytes) {
  static char block[1 << 20];
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  memset(block, 'x', sizeof block);
  for (size_t at = 0; at < bytes; at += sizeof block) {
    if (syscall(SYS_write, fd, block, sizeof block) != (long)sizeof block) return -1;
  }
  syscall(SYS_fsync, fd);
  syscall(SYS_fadvise64, fd, 0L, 0L, (long)POSIX_FADV_DONTNEED);
  return (int)syscall(SYS_close, fd);
}

enum { MOST_CALLS = 16 };

/// The sizes of the calls of a record. Returns their number.
static size_t sizes_in(const char* text, size_t* sizes) {
  size_t count = 0;
  for (char* end; count < MOST_CALLS; text = end + 1) {
    sizes[count++] = strtoul(text, &end, 10);
    if (*end != ',') break;
  }
  return count;
}

int main(int count, char** words) {
  if (count != 5) return 2;
  char path[4096];
  snprintf(path, sizeof path, "%s/pace.dat", words[1]);
  const int reads = strcmp(words[2], "read") == 0;
  size_t sizes[MOST_CALLS], record = 0, calls = 0;
  const size_t parts = sizes_in(words[3], sizes), bytes = strtoul(words[4], NULL, 10);
  for (size_t k = 0; k < parts; ++k) record += sizes[k];
  if (record == 0) return 2;
  char* const at = malloc(record);
  memset(at, 'y', record);
  if (reads && make(path, bytes) != 0) return fail(path);
  const double begin = now_s();
  const int fd = open(path, reads ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0644);
  for (size_t left = bytes / record * parts, k = 0; left > 0; --left, ++calls, k = k + 1 < parts ? k + 1 : 0) {
    const size_t n = sizes[k];
    if ((reads ? read(fd, at, n) : write(fd, at, n)) != (ssize_t)n) return fail(path);
  }
  const double calls_s = now_s() - begin;
  if (close(fd) != 0) return fail(path);
  const double closed_s = now_s() - begin;
  syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  printf("{\"mb_per_s\": %.3f, \"ns_per_call\": %.3f, \"calls_s\": %.6f}\n", 1e-6 * (double)bytes / closed_s,
         1e9 * closed_s / (double)calls, calls_s);
  return 0;
}
