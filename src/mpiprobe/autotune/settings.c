// The settings of the tuner, from the environment.
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpiprobe/autotune/tune.h"

enum { usual_rounds = 3, usual_warm_up = 1, usual_again = 500, most_warm_up = 1000000, usual_memory = 64 << 20 };

struct tune_settings tune_settings;
const char* const tune_names[tune_collectives] = {"barrier",
                                                  "bcast",
                                                  "reduce",
                                                  "allreduce",
                                                  "gather",
                                                  "gatherv",
                                                  "scatter",
                                                  "scatterv",
                                                  "allgather",
                                                  "allgatherv",
                                                  "alltoall",
                                                  "alltoallv",
                                                  "reduce_scatter",
                                                  "reduce_scatter_block",
                                                  "scan",
                                                  "exscan",
                                                  "ibarrier",
                                                  "ibcast",
                                                  "ireduce",
                                                  "iallreduce",
                                                  "igather",
                                                  "igatherv",
                                                  "iscatter",
                                                  "iscatterv",
                                                  "iallgather",
                                                  "iallgatherv",
                                                  "ialltoall",
                                                  "ialltoallv",
                                                  "ireduce_scatter",
                                                  "ireduce_scatter_block",
                                                  "iscan",
                                                  "iexscan"};

void tune_say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("culmen: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

/// Rank 0 says it for all, because its settings hold.
#define SAY_ONCE(...) (tune_is_first() ? tune_say(__VA_ARGS__) : (void)0)

static const char* text_of(const char* name) {
  const char* const text = getenv(name);
  return text != NULL && *text != '\0' ? text : NULL;
}

/// Whether a variable is set to something else than an empty text and 0.
static int is_set(const char* name) {
  const char* const text = text_of(name);
  return text != NULL && strcmp(text, "0") != 0;
}

/// A copy with an absolute path, because the program may change its folder and its environment.
static const char* path_in(const char* name) {
  const char* const text = text_of(name);
  char folder[4096], *path = NULL;
  if (text == NULL) return NULL;
  if (*text == '/' || getcwd(folder, sizeof folder) == NULL) return strdup(text);
  const size_t bytes = strlen(folder) + strlen(text) + 2;
  path = malloc(bytes);
  if (path != NULL) snprintf(path, bytes, "%s/%s", folder, text);
  return path;
}

static uint64_t number_of(const char* name, uint64_t otherwise, uint64_t least, uint64_t most) {
  const char* const text = text_of(name);
  char* end = NULL;
  const unsigned long long value = text != NULL ? strtoull(text, &end, 10) : 0;
  if (text == NULL) return otherwise;
  if (*end == '\0' && *text != '-' && value >= least && value <= most) return value;
  SAY_ONCE("%s must be a whole number from %llu to %llu, got '%s'; %llu is used", name, (unsigned long long)least,
           (unsigned long long)most, text, (unsigned long long)otherwise);
  return otherwise;
}

/// The collectives in a text such as "bcast,allreduce"; all of them without a text.
static uint64_t collectives_in(const char* text) {
  if (text == NULL) return UINT64_MAX;
  uint64_t found = 0;
  char copy[512];
  snprintf(copy, sizeof copy, "%s", text);
  char* rest = copy;
  for (char* word; (word = strsep(&rest, ",")) != NULL;) {
    unsigned what = 0;
    while (what < tune_collectives && strcmp(word, tune_names[what]) != 0) ++what;
    if (what == tune_collectives)
      SAY_ONCE("CULMEN_TUNING_COLLECTIVES names '%s', which is no collective; known are bcast, allreduce and the like",
               word);
    else found |= UINT64_C(1) << what;
  }
  return found;
}

static void read_list(const char* name, char* list, size_t bytes) {
  const char* const text = text_of(name);
  if (text == NULL) return;
  snprintf(list, bytes, "%s", text);
  if (strlen(text) >= bytes)
    SAY_ONCE("%s may have %zu bytes, got %zu; the rest of it is ignored", name, bytes - 1, strlen(text));
}

void tune_read_settings(void) {
  tune_settings = (struct tune_settings){
      .dump = path_in("CULMEN_TUNING_DUMP"),
      .load = path_in("CULMEN_TUNING_LOAD"),
      .rounds = (unsigned)number_of("CULMEN_TUNING_REPETITIONS", usual_rounds, 1, tune_most_rounds),
      .warm_up = (unsigned)number_of("CULMEN_TUNING_WARMUP", usual_warm_up, 0, most_warm_up),
      .again = (unsigned)number_of("CULMEN_TUNING_RECHECK", usual_again, 0, UINT32_MAX / 8),
      .least = number_of("CULMEN_TUNING_MIN_BYTES", 0, 0, UINT64_MAX),
      .most = number_of("CULMEN_TUNING_MAX_BYTES", UINT64_MAX, 0, UINT64_MAX),
      .collectives = collectives_in(text_of("CULMEN_TUNING_COLLECTIVES")),
      .memory = number_of("CULMEN_TUNING_MEMORY", usual_memory, 0, INT64_MAX),
      .reproducible = is_set("CULMEN_TUNING_REPRODUCIBLE"),
      .one_thread = is_set("CULMEN_TUNING_ONE_THREAD"),
      .least_ranks = is_set("CULMEN_TUNING_ONE_RANK") ? 1 : 2,
      .same_types = is_set("CULMEN_TUNING_SAME_TYPES"),
      .refuses = is_set("CULMEN_TUNING_REFUSES"),
      .one_request = is_set("CULMEN_TUNING_ONE_REQUEST"),
  };
  read_list("CULMEN_TUNING_COMMUNICATORS", tune_settings.communicators, sizeof tune_settings.communicators);
  read_list("CULMEN_TUNING_WITHOUT", tune_settings.without, sizeof tune_settings.without);
}
