// A race and a confirmation need only three calls of each algorithm. The verdict is careful: if a gain is not clear, a
// second look decides, with more calls of fewer algorithms.
#include "mpiprobe/autotune/race.h"

#include <stdlib.h>
#include <string.h>

// A gain is more than noise if enough pairs of two calls, one with each algorithm, show it. With 12 calls of each, two
// equal algorithms show a gain in 1 of 860 cases (H. B. Mann and D. R. Whitney, Ann. Math. Stat. 18 (1947) 50). With
// few pairs, all pairs must show the gain, and the gain must be larger. Two effects make wrong gains more frequent. The
// best of many algorithms is compared. And in a race, the calls of an algorithm are in a row, so that a phase of the
// program can look like a gain. Later looks find such mistakes: they compare each algorithm in three passes, each time
// in another order.
struct rule {
  unsigned pairs;  // at least this number
  double share;    // of the pairs, which must show the gain
  double at_most;  // largest median / median of the default
};
static const struct rule rules[] = {{100, 0.85, 0.95}, {16, 0.9, 0.95}, {9, 1, 0.85}, {6, 1, 0.65}, {4, 1, 0.55}};

static unsigned calls_in_a_row(const struct tune_trial* trial, unsigned candidate) {
  return trial->calls_of[candidate] / trial->passes;
}

static unsigned counting_in_a_row(const struct tune_trial* trial, unsigned candidate) {
  return calls_in_a_row(trial, candidate) - trial->skipped[candidate];
}

static unsigned counting(const struct tune_trial* trial, unsigned candidate) {
  return trial->passes * counting_in_a_row(trial, candidate);
}

static unsigned sum(const struct tune_trial* trial, unsigned candidates) {
  unsigned times = 0;
  for (unsigned k = 0; k < candidates; ++k) times += counting(trial, k);
  return times;
}

unsigned tune_most_times(void) {
  const unsigned first = tune_most_algorithms * tune_settings.rounds;
  const unsigned last = tune_most_looked_again * tune_look_rounds;
  return first > last ? first : last;
}

unsigned tune_times_in(const struct tune_trial* trial) { return sum(trial, trial->count); }

unsigned tune_calls_in(const struct tune_trial* trial) {
  unsigned calls = 0;
  for (unsigned k = 0; k < trial->count; ++k) calls += trial->calls_of[k];
  return calls;
}

/// The next call. round: its number among the calls in a row.
struct turn {
  unsigned candidate, pass, round;
};

static struct turn now(const struct tune_trial* trial) {
  struct turn turn = {0, 0, trial->calls};
  const unsigned turns = trial->passes * trial->count;
  for (unsigned k = 0; k < turns; ++k) {
    turn.pass = k / trial->count;
    turn.candidate = (k + turn.pass) % trial->count;
    const unsigned calls = calls_in_a_row(trial, turn.candidate);
    if (turn.round < calls || k + 1 == turns) break;
    turn.round -= calls;
  }
  return turn;
}

unsigned tune_candidate_now(const struct tune_trial* trial) { return now(trial).candidate; }

int tune_place_now(const struct tune_trial* trial) {
  const struct turn turn = now(trial);
  const unsigned skipped = trial->skipped[turn.candidate];
  if (turn.round < skipped) return -1;
  const unsigned before = turn.pass * counting_in_a_row(trial, turn.candidate);
  return (int)(sum(trial, turn.candidate) + before + turn.round - skipped);
}

static void begin(struct tune_trial* trial, enum tune_phase phase) {
  trial->phase = phase;
  trial->passes = phase == tune_looked_again ? tune_passes : 1;
  trial->calls = trial->count = 0;
  for (unsigned k = 0; k < tune_most_times(); ++k) trial->ns[k] = -1;
}

static void add(struct tune_trial* trial, unsigned algorithm, unsigned calls, unsigned skipped) {
  trial->candidates[trial->count] = (uint8_t)algorithm;
  trial->calls_of[trial->count] = (uint8_t)calls;
  trial->skipped[trial->count++] = (uint8_t)(skipped < calls ? skipped : 0);
}

/// The warm-up used the default, and one of its calls counts as a call of the comparison.
static unsigned warm_calls(void) { return tune_settings.warm_up > 0; }

void tune_begin_race(struct tune_trial* trial, uint32_t possible) {
  const unsigned rounds = tune_settings.rounds > 1 ? tune_settings.rounds - 1 : 1;
  begin(trial, tune_raced);
  trial->raced[0].count = trial->raced[1].count = 0;
  add(trial, 0, rounds, !warm_calls() && rounds > 1);
  for (unsigned k = 1; k < tune_most_algorithms; ++k) {
    if (possible >> k & 1) add(trial, k, rounds, rounds > 1);
  }
  if (trial->count == 2 && tune_settings.rounds > 1) trial->calls_of[1] += (uint8_t)(2 - warm_calls());
}

void tune_begin_look(struct tune_trial* trial, unsigned first, unsigned second) {
  begin(trial, tune_looked_again);
  trial->raced[0].count = trial->raced[1].count = 0;
  add(trial, 0, tune_look_rounds, 1);
  if (first != 0) add(trial, first, tune_look_rounds, 1);
  if (second != 0 && second != first) add(trial, second, tune_look_rounds, 1);
}

static void keep(const struct tune_trial* trial, unsigned candidate, struct tune_times* times) {
  times->count = counting(trial, candidate);
  memcpy(times->ns, trial->ns + sum(trial, candidate), times->count * sizeof *times->ns);
}

int tune_begin_confirmation(struct tune_trial* trial, unsigned fastest) {
  const unsigned algorithm = trial->candidates[fastest], is_last = fastest + 1 == trial->count;
  const unsigned left = tune_settings.rounds > 1 ? trial->count - warm_calls() : 0;
  if (trial->count < 3 || left < 2 || tune_median(trial, fastest) >= tune_median(trial, 0)) return 0;
  keep(trial, 0, &trial->raced[0]);
  keep(trial, fastest, &trial->raced[1]);
  const unsigned half = left / 2 > 1 ? left / 2 : 0;
  begin(trial, tune_confirmed);
  add(trial, 0, half, 1);
  add(trial, algorithm, left - half, half > 0 || !is_last);
  return 1;
}

struct all_times {
  double ns[2 * tune_most_rounds];
  unsigned count;
};

/// The times of a candidate, including those of the race.
static struct all_times times_of(const struct tune_trial* trial, unsigned candidate) {
  const struct tune_times* const raced = candidate < 2 ? &trial->raced[candidate] : NULL;
  struct all_times all = {.count = raced != NULL ? raced->count : 0};
  if (raced != NULL) memcpy(all.ns, raced->ns, raced->count * sizeof *raced->ns);
  const unsigned more = counting(trial, candidate);
  memcpy(all.ns + all.count, trial->ns + sum(trial, candidate), more * sizeof *all.ns);
  all.count += more;
  return all;
}

static int by_size(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

double tune_median(const struct tune_trial* trial, unsigned candidate) {
  struct all_times its = times_of(trial, candidate);
  qsort(its.ns, its.count, sizeof *its.ns, by_size);
  return (its.ns[(its.count - 1) / 2] + its.ns[its.count / 2]) / 2;
}

unsigned tune_fastest(const struct tune_trial* trial, unsigned without) {
  unsigned best = 0;
  for (unsigned k = 1; k < trial->count; ++k) {
    if (k != without && (best == 0 || tune_median(trial, k) < tune_median(trial, best))) best = k;
  }
  return best;
}

static const struct rule* rule_for(unsigned pairs) {
  for (unsigned k = 0; k < sizeof rules / sizeof *rules; ++k) {
    if (pairs >= rules[k].pairs) return &rules[k];
  }
  return NULL;
}

int tune_gains(const struct tune_trial* trial, unsigned candidate) {
  const struct all_times usual = times_of(trial, 0), its = times_of(trial, candidate);
  const unsigned pairs = usual.count * its.count;
  const struct rule* const rule = rule_for(pairs);
  unsigned faster = 0;
  for (unsigned k = 0; k < pairs; ++k) faster += its.ns[k / usual.count] < usual.ns[k % usual.count];
  return rule != NULL && candidate != 0 && faster >= rule->share * pairs &&
         tune_median(trial, candidate) < rule->at_most * tune_median(trial, 0);
}
