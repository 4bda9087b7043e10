// False alarms of the tuner's drift rule, and drifts that it misses, with times that this program makes up:
// drift_program [show]. Prints nothing if all is right.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpiprobe/autotune/tune.h"

enum { seeds = 100, most_ranks = 8, calls_of_seed = 100000, stride_of_window = tune_stride * tune_window };
enum { looked = 45 };  // calls of a comparison

static double uniform(void) { return (rand() + 0.5) / (RAND_MAX + 1.0); }
static double normal(void) { return sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform()); }

/// Of a call on a rank. off_the_core: in one of ten calls, the rank waits up to 1000 times as long for its core.
/// Bursts: another program runs for 300 calls. Windows: each window has a level of its own, as with more ranks than
/// cores. Phases: the program itself becomes twice as slow for 3000 calls, and then fast again.
enum kind { two_ranks, eight_ranks, off_the_core, bursts, windows, phases, kinds };
static const char* const names[kinds] = {"two ranks", "eight ranks", "off the core", "bursts", "windows", "phases"};
/// Most alarms in 100000 calls, as the mean of all seeds. In the last three kinds, the program does change. Each alarm
/// makes the pause longer, so that few comparisons follow.
static const double most_alarms[kinds] = {0.05, 0.05, 0.05, 0.6, 2, 3};

static unsigned burst;  // calls that it still has
static double level_of_window;

static double level_at(enum kind kind, unsigned call) {
  if (kind == phases) return call / 3000 % 2 != 0 ? 2 : 1;
  if (kind == windows && call % stride_of_window == 0) level_of_window = exp(0.4 * normal());
  if (kind == bursts && burst == 0 && uniform() < 1.0 / 5000) burst = 300;
  if (kind == bursts && burst > 0) return --burst, 3;
  return kind == windows ? level_of_window : 1;
}

static double time_of(enum kind kind) {
  const double spread = kind == two_ranks ? 0.15 : 0.3;
  return 10000 * exp(spread * normal()) * (kind == off_the_core && uniform() < 0.1 ? 1 + 1000 * uniform() : 1);
}

static int ends_window(struct tune_watch watches[], int ranks) {
  double sum = 0;
  int has_drifted = 0;
  for (int k = 0; k < ranks; ++k) sum += (double)tune_duration(&watches[k]);
  for (int k = 0; k < ranks; ++k) {
    has_drifted = tune_has_drifted(&watches[k], (float)(sum / ranks));
    watches[k].calls = 0;
  }
  return has_drifted;
}

/// The first alarm after `from` calls, and the number of all alarms. From then on, calls are `factor` times as long.
struct alarms {
  unsigned first, all;
};
static struct alarms alarms_of(enum kind kind, int ranks, unsigned calls, unsigned from, double factor) {
  struct tune_watch watches[most_ranks] = {{{0}}};
  struct alarms alarms = {calls, 0};
  burst = 0;
  for (int k = 0; k < ranks; ++k) tune_begin_watch(&watches[k], 1);
  for (unsigned call = 0; call < calls; ++call) {
    const double level = level_at(kind, call) * (call < from ? 1 : factor);
    if (call % tune_stride != tune_stride - 1) continue;
    for (int k = 0; k < ranks; ++k) tune_watch(&watches[k], (uint64_t)(level * time_of(kind)));
    if (call % stride_of_window != stride_of_window - 1 || !ends_window(watches, ranks)) continue;
    if (alarms.first == calls && call >= from) alarms.first = call;
    ++alarms.all;
    for (int k = 0; k < ranks; ++k) tune_begin_watch(&watches[k], 0);
  }
  return alarms;
}

static int false_alarms(enum kind kind, int ranks, int is_shown) {
  unsigned sum = 0, most = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    srand((unsigned)seed);
    const unsigned alarms = alarms_of(kind, ranks, calls_of_seed, calls_of_seed, 1).all;
    sum += alarms;
    most = alarms > most ? alarms : most;
  }
  const double mean = (double)sum / seeds;
  if (is_shown)
    printf("%-12s %d ranks: %.2f alarms in 100000 calls, at most %u; calls that are compared: %.2f%%\n", names[kind],
           ranks, mean, most, 100.0 * looked * mean / calls_of_seed);
  if (mean <= most_alarms[kind]) return 0;
  fprintf(stderr, "%s, %d ranks: %.2f alarms in 100000 calls\n", names[kind], ranks, mean);
  return 1;
}

/// Calls that become so much slower or faster after 9000 calls are noticed within four windows.
static int missed(enum kind kind, int ranks, double factor, int is_shown) {
  const unsigned from = 9000, until = from + 4 * stride_of_window;
  int number = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    srand((unsigned)seed);
    number += alarms_of(kind, ranks, until, from, factor).first == until;
  }
  if (is_shown)
    printf("%-12s %d ranks: %.1f times as slow, missed: %d of %d\n", names[kind], ranks, factor, number, seeds);
  if (number <= 0.02 * seeds) return 0;
  fprintf(stderr, "%s, %d ranks: %.1f times as slow, missed: %d of %d\n", names[kind], ranks, factor, number, seeds);
  return 1;
}

int main(int n, char** words) {
  (void)words;
  const int is_shown = n > 1;
  int faults = 0;
  for (enum kind kind = two_ranks; kind < kinds; ++kind) {
    for (int ranks = 1; ranks <= most_ranks; ranks *= 8) faults += false_alarms(kind, ranks, is_shown);
  }
  for (enum kind kind = two_ranks; kind <= off_the_core; ++kind) {
    faults += missed(kind, 2, 3, is_shown) + missed(kind, 2, 1.0 / 3, is_shown);
  }
  return faults != 0;
}
