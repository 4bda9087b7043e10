// Numbers of the settings. A wrong one is one sentence on stderr.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

const struct iobuf_limits iobuf_limits[iobuf_numbers] = {
    {"size", "CULMEN_IOBUF_SIZE", "a size from 4K to 1G", iobuf_least_bytes, (uint64_t)1 << 30, 1},
    {"large", "CULMEN_IOBUF_LARGE", "a size from 1 to 1G", 1, (uint64_t)1 << 30, 1},
    {"buffers", "CULMEN_IOBUF_BUFFERS", "a whole number from 1 to 64", 1, iobuf_most_buffers, 0},
    {"read_ahead", "CULMEN_IOBUF_READ_AHEAD", "a whole number from 0 to 64", 0, iobuf_most_buffers, 0},
    {"write_behind", "CULMEN_IOBUF_WRITE_BEHIND", "a whole number from 0 to 64", 0, iobuf_most_buffers, 0},
    {"memory", "CULMEN_IOBUF_MEMORY", "a size of at least 4K", iobuf_least_bytes, UINT64_MAX / 2, 1},
    {"delay_ms", "CULMEN_IOBUF_DELAY_MS", "a whole number from 1 to 3600000", 1, 3600000, 0},
};

static int unit_shift(char letter) {
  static const char letters[] = "KMG";
  const char* const at = letter != '\0' ? strchr(letters, letter & ~0x20) : NULL;
  return at != NULL ? 10 * (int)(at - letters + 1) : 0;
}

/// 4M, 4m, 4MB and 4MiB, as in the command.
static int read_unit(const char* text, uint64_t* value) {
  const int shift = unit_shift(*text);
  if (*value > UINT64_MAX >> shift) return 0;
  *value <<= shift;
  if (shift > 0) ++text;
  return *text == '\0' || strcasecmp(text, "B") == 0 || strcasecmp(text, "iB") == 0;
}

int iobuf_read_number(const struct iobuf_limits* limits, const char* text, uint64_t* value) {
  uint64_t found = 0;
  const char* at = text;
  for (; *at >= '0' && *at <= '9'; ++at) {
    if (__builtin_mul_overflow(found, 10, &found) || __builtin_add_overflow(found, *at - '0', &found)) return 0;
  }
  if (at == text || !(limits->is_size ? read_unit(at, &found) : *at == '\0')) return 0;
  if (found < limits->least || found > limits->most) return 0;
  *value = found;
  return 1;
}

/// Rank 0 speaks for all ranks.
static int is_another_rank(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (unsigned k = 0; k < sizeof names / sizeof *names; ++k) {
    const char* const rank = getenv(names[k]);
    if (rank != NULL) return strcmp(rank, "0") != 0;
  }
  return 0;
}

void iobuf_complain(const char* format, ...) {
  if (iobuf_no_stderr || is_another_rank()) return;
  char text[512];
  va_list rest;
  va_start(rest, format);
  const int n = vsnprintf(text, sizeof text, format, rest);
  va_end(rest);
  if (n > 0) syscall(SYS_write, STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}
