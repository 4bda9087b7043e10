// A comparison of algorithms: which calls it takes, and what follows from their times.
#pragma once
#include "mpiprobe/autotune/tune.h"

enum { tune_passes = 3, tune_look_rounds = 5 * tune_passes, tune_most_looked_again = 3 };  // candidates

/// raced: all algorithms; confirmed: the default and the fastest one of the race; looked_again: the default and those
/// that were best before.
enum tune_phase { tune_raced, tune_confirmed, tune_looked_again };

/// Means of the ranks.
struct tune_times {
  double ns[tune_most_rounds];
  unsigned count;
};

/// Each candidate gets so many calls in a row, in each pass the same number. The first of them ends what the former
/// candidate has begun: a rank may leave a call long before others. So it does not count, except after a call with the
/// same algorithm.
struct tune_trial {
  uint8_t candidates[tune_most_algorithms];  // the first one is the default
  uint8_t calls_of[tune_most_algorithms];    // in all passes
  uint8_t skipped[tune_most_algorithms];     // of the calls in a row
  unsigned count, calls, passes;             // each pass begins with the next candidate
  enum tune_phase phase;
  uint32_t again;              // the calls before it
  int is_lost;                 // a time of a nonblocking call is not known and never will be
  struct tune_times raced[2];  // before the confirmation: of the default and of the fastest one
  struct sums* sums;           // that are under way, for nonblocking calls; null: none
  double ns[];                 // of the calls that count, on this rank; in the end, as the mean of the ranks
};

/// How many times a comparison has at most.
unsigned tune_most_times(void);
/// Of this comparison.
unsigned tune_times_in(const struct tune_trial* trial);
unsigned tune_calls_in(const struct tune_trial* trial);
unsigned tune_candidate_now(const struct tune_trial* trial);
/// Where the time of the next call is kept; -1: it does not count.
int tune_place_now(const struct tune_trial* trial);

/// possible: a bit for each algorithm.
void tune_begin_race(struct tune_trial* trial, uint32_t possible);
void tune_begin_look(struct tune_trial* trial, unsigned first, unsigned second);
/// After a race. False: there is nothing to confirm.
int tune_begin_confirmation(struct tune_trial* trial, unsigned fastest);

double tune_median(const struct tune_trial* trial, unsigned candidate);
/// The fastest candidate without this one and the default; the default if there is no other one.
unsigned tune_fastest(const struct tune_trial* trial, unsigned without);
/// Whether the candidate is told from noise to be faster than the default.
int tune_gains(const struct tune_trial* trial, unsigned candidate);
