// The communicators that the user chose, by patterns with commas.
#define _GNU_SOURCE
#include <fnmatch.h>
#include <string.h>

#include "mpiprobe/autotune/tune.h"

enum { most_patterns = 32 };

static uint32_t matched;  // a bit for each pattern

int tune_is_chosen(const char* name) {
  char patterns[sizeof tune_settings.communicators];
  if (*tune_settings.communicators == '\0') return 1;
  memcpy(patterns, tune_settings.communicators, sizeof patterns);
  char* rest = patterns;
  int is_chosen = 0;
  unsigned k = 0;
  for (char* pattern; (pattern = strsep(&rest, ",")) != NULL; ++k) {
    if (fnmatch(pattern, name, 0) != 0) continue;
    is_chosen = 1;
    if (k < most_patterns) __atomic_or_fetch(&matched, UINT32_C(1) << k, __ATOMIC_RELAXED);
  }
  return is_chosen;
}

void tune_say_unmatched(void) {
  if (tune_off != NULL || *tune_settings.communicators == '\0') return;
  uint32_t by_any = 0;
  REAL(MPI_Reduce)
  (&matched, &by_any, sizeof matched, PROBE_OBJECT("ompi_mpi_byte", MPI_BYTE), PROBE_OBJECT("ompi_mpi_op_bor", MPI_BOR),
   0, tune_world());
  if (!tune_is_first()) return;
  char patterns[sizeof tune_settings.communicators];
  memcpy(patterns, tune_settings.communicators, sizeof patterns);
  char* rest = patterns;
  unsigned k = 0;
  for (char* pattern; (pattern = strsep(&rest, ",")) != NULL && k < most_patterns; ++k) {
    if (*pattern != '\0' && !(by_any >> k & 1))
      tune_say(
          "the program called no collective that can be tuned on a communicator named '%s' "
          "(CULMEN_TUNING_COMMUNICATORS); `culmen profile` shows the names",
          pattern);
  }
}
