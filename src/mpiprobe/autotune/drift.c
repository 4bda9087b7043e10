// Notices that calls with a choice have become slower or faster. The duration of a window is the median of its timed
// calls, so that single slow calls do not count.
#include <float.h>

#include "mpiprobe/autotune/tune.h"

enum {
  middle = tune_window / 2 - 1,
  skipped = 1,  // ranks begin the first window at the same time, so that they wait longer for each other
  first_pause = skipped + 4,
  longest_pause = 16 * first_pause,
};

// On a busy machine, some windows are many times slower than others. So the reference is a range of windows, and only
// two windows in a row count.
static const float factor = 1.5F;

static void begin_window(struct tune_watch* watch) {
  watch->calls = 0;
  for (unsigned k = 0; k <= middle; ++k) watch->shortest_ns[k] = FLT_MAX;
}

void tune_begin_watch(struct tune_watch* watch, int is_other) {
  if (is_other || watch->pause == 0) watch->pause = first_pause;
  watch->least_ns = FLT_MAX;
  watch->most_ns = 0;
  watch->windows = 0;
  watch->way = 0;
  begin_window(watch);
}

void tune_watch(struct tune_watch* watch, uint64_t ns) {
  float longer = (float)ns;
  for (unsigned k = 0; k <= middle; ++k) {
    const float there = watch->shortest_ns[k];
    if (longer >= there) continue;
    watch->shortest_ns[k] = longer;
    longer = there;
  }
}

int64_t tune_duration(const struct tune_watch* watch) {
  const float median = watch->shortest_ns[middle];
  return median < FLT_MAX ? (int64_t)median : -1;
}

static void learn(struct tune_watch* watch, float ns) {
  if (watch->windows <= skipped) return;
  if (ns < watch->least_ns) watch->least_ns = ns;
  if (ns > watch->most_ns) watch->most_ns = ns;
}

int tune_has_drifted(struct tune_watch* watch, float ns) {
  begin_window(watch);
  if (ns < 0) return 0;
  if (watch->windows < UINT8_MAX) ++watch->windows;
  if (watch->windows <= first_pause) {
    learn(watch, ns);
    return 0;
  }
  const int before = watch->way;
  watch->way = (int8_t)((ns > factor * watch->most_ns) - (factor * ns < watch->least_ns));
  if (watch->way == 0 || watch->way != before || watch->windows <= watch->pause) return 0;
  if (watch->pause < longest_pause) watch->pause *= 2;
  return 1;
}
