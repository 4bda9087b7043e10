// Functions of the C library that write to a descriptor past all libraries.
#define _GNU_SOURCE
#include <execinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

static int write_all(int fd, const char* text, int n) {
  for (int done = 0; done < n;) {
    const ssize_t now = write(fd, text + done, (size_t)(n - done));
    if (now < 0) return -1;
    done += (int)now;
  }
  return n;
}

static int print(int fd, const char* format, va_list rest) {
  char text[1024], *longer = NULL;
  va_list again;
  va_copy(again, rest);
  int n = vsnprintf(text, sizeof text, format, rest);
  if (n >= (int)sizeof text) n = vasprintf(&longer, format, again);
  va_end(again);
  if (n < 0) return n;
  const int result = write_all(fd, longer != NULL ? longer : text, n);
  free(longer);
  return result;
}

static int is_buffered(int fd) {
  if (iobuf_inside != 0) return 0;
  struct iobuf_description* const d = iobuf_enter(fd);
  if (d == NULL) return 0;
  iobuf_unlock(d->file);
  return 1;
}

#define PRINT(call)       \
  va_list rest;           \
  va_start(rest, format); \
  const int n = call;     \
  va_end(rest);           \
  return n

IOBUF_PUBLIC int vdprintf(int fd, const char* format, va_list rest) {
  if (is_buffered(fd)) return print(fd, format, rest);
  iobuf_told(fd);
  return REAL(vdprintf)(fd, format, rest);
}
IOBUF_PUBLIC int dprintf(int fd, const char* format, ...) { PRINT(vdprintf(fd, format, rest)); }

// Compilers call these with _FORTIFY_SOURCE: the check of the format is the C library's.
int __vdprintf_chk(int fd, int flag, const char* format, va_list rest);
int __dprintf_chk(int fd, int flag, const char* format, ...);
IOBUF_PUBLIC int __vdprintf_chk(int fd, int flag, const char* format, va_list rest) {
  iobuf_step_aside_fd(fd, iobuf_by_stream);
  iobuf_told(fd);
  return REAL(__vdprintf_chk)(fd, flag, format, rest);
}
IOBUF_PUBLIC int __dprintf_chk(int fd, int flag, const char* format, ...) {
  PRINT(__vdprintf_chk(fd, flag, format, rest));
}

IOBUF_PUBLIC void backtrace_symbols_fd(void* const* places, int count, int fd) {
  iobuf_step_aside_fd(fd, iobuf_by_stream);
  iobuf_told(fd);
  REAL(backtrace_symbols_fd)(places, count, fd);
}
