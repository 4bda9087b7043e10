// The report of a process: CULMEN_IOBUF_REPORT names a folder, in which it writes a file HOST.PROCESS.iobuf.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

const char* const iobuf_reason_names[iobuf_reasons] = {"buffered", "pattern", "flags",   "stream",
                                                       "mapping",  "lock",    "process", "other"};

static atomic_ullong files, asides[iobuf_reasons];
static struct {
  atomic_ullong reads, read_bytes, system_reads, writes, written_bytes, system_writes, errors, untold;
} sums;

void iobuf_count_aside(enum iobuf_reason reason) {
  if (!iobuf_off) atomic_fetch_add(&asides[reason], 1);
}

void iobuf_count_file(struct iobuf_file* file) {
  struct iobuf_counts* const c = &file->counts;
  if (c->reads + c->writes > 0) atomic_fetch_add(&files, 1);
  atomic_fetch_add(&sums.reads, c->reads);
  atomic_fetch_add(&sums.read_bytes, c->read_bytes);
  atomic_fetch_add(&sums.system_reads, c->system_reads);
  atomic_fetch_add(&sums.writes, c->writes);
  atomic_fetch_add(&sums.written_bytes, c->written_bytes);
  atomic_fetch_add(&sums.system_writes, c->system_writes);
  atomic_fetch_add(&sums.errors, c->errors);
  atomic_fetch_add(&sums.untold, c->untold);
  memset(c, 0, sizeof *c);
}

void iobuf_reset_counts(void) {
  for (unsigned k = 0; k < iobuf_files_used; ++k) memset(&iobuf_files[k].counts, 0, sizeof iobuf_files[k].counts);
  memset(&sums, 0, sizeof sums);
  memset(asides, 0, sizeof asides);
  files = 0;
}

static void write_to(int fd) {
  char text[2048];
  size_t n = (size_t)snprintf(
      text, sizeof text,
      "files %llu\nreads %llu\nread_bytes %llu\nsystem_reads %llu\nwrites %llu\nwritten_bytes %llu\nsystem_writes "
      "%llu\nerrors %llu\nuntold %llu\nmemory_bytes %zu\n",
      files, sums.reads, sums.read_bytes, sums.system_reads, sums.writes, sums.written_bytes, sums.system_writes,
      sums.errors, sums.untold, iobuf_memory_peak());
  for (unsigned k = 1; k < iobuf_reasons; ++k)
    n += (size_t)snprintf(text + n, sizeof text - n, "aside_%s %llu\n", iobuf_reason_names[k], asides[k]);
  if (syscall(SYS_write, fd, text, n) < 0) return;
}

static int has_counted(void) {
  unsigned long long any = files;
  for (unsigned k = 1; k < iobuf_reasons; ++k) any += asides[k];
  return any > 0;
}

void iobuf_write_report(void) {
  const char* const folder = getenv("CULMEN_IOBUF_REPORT");
  if (folder == NULL || *folder == '\0') return;
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    iobuf_lock(&iobuf_files[k]);
    iobuf_count_file(&iobuf_files[k]);
    iobuf_unlock(&iobuf_files[k]);
  }
  if (!has_counted()) return;
  char path[4096], host[64] = "";
  gethostname(host, sizeof host - 1);
  snprintf(path, sizeof path, "%s/%s.%ld.iobuf", folder, host, (long)getpid());
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return;
  write_to(fd);
  syscall(SYS_close, fd);
  iobuf_reset_counts();
}

atomic_int iobuf_no_stderr;

void iobuf_print_error(struct iobuf_file* file, int fd) {
  if (file->error == 0) return;
  char link[32], path[2048], text[2300];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd < 0 && file->descriptions != NULL ? file->descriptions->fd : fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) snprintf(path, sizeof path, "the file with inode %llu", (unsigned long long)file->ino);
  else path[length] = '\0';
  file->counts.untold += file->failed;
  const int n =
      snprintf(text, sizeof text, "culmen: bytes of %s were lost: %s.\n", path, strerror(iobuf_take_error(file)));
  if (!iobuf_no_stderr && syscall(SYS_write, STDERR_FILENO, text, (size_t)n) < 0) return;
}

void iobuf_print_errors(void) {
  const int is_inside = iobuf_inside != 0;  // then locks stay as they are
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    struct iobuf_file* const file = &iobuf_files[k];
    if (!file->live || file->error == 0) continue;
    if (!is_inside) iobuf_lock(file);
    if (file->live) iobuf_print_error(file, -1);
    if (!is_inside) iobuf_unlock(file);
  }
}
