// A comparison of algorithms: the calls that it needs, and the decision from their times.
#pragma once
#include "mpiprobe/autotune/tune.h"

enum { tune_passes = 3, tune_look_rounds = 5 * tune_passes, tune_most_looked_again = 3 };  // candidates

/// Candidates of raced: all algorithms. Of confirmed: the default and the fastest one of the race. Of looked_again: the
/// default and those that were best before.
enum tune_phase { tune_raced, tune_confirmed, tune_looked_again };

/// Times of calls, as means over the ranks.
struct tune_times {
  double ns[tune_most_rounds];
  unsigned count;
};

/// Each candidate gets a number of calls in a row, the same number in each pass. A rank may leave a call long before
/// others, so the first call in a row also waits for the end of the previous candidate's last call. Therefore the first
/// call does not count, except after a call with the same algorithm.
struct tune_trial {
  uint8_t candidates[tune_most_algorithms];  // the first one is the default
  uint8_t calls_of[tune_most_algorithms];    // in all passes
  uint8_t skipped[tune_most_algorithms];     // of the calls in a row
  unsigned count, calls, passes;             // each pass begins with the next candidate
  enum tune_phase phase;
  int is_lost;                 // a time of a nonblocking call is not known and never will be
  struct tune_times raced[2];  // before the confirmation: of the default and of the fastest one
  struct sums* sums;           // under way, for nonblocking calls; null if there are none
  double ns[];                 // times of the calls that count: on this rank, and at the end the means over the ranks
};

/// The largest number of measured times in a comparison.
unsigned tune_most_times(void);
/// The number of measured times in this comparison.
unsigned tune_times_in(const struct tune_trial* trial);
unsigned tune_calls_in(const struct tune_trial* trial);
unsigned tune_candidate_now(const struct tune_trial* trial);
/// The index in ns for the time of the next call; -1 if it does not count.
int tune_place_now(const struct tune_trial* trial);

/// possible: a bit for each algorithm.
void tune_begin_race(struct tune_trial* trial, uint32_t possible);
void tune_begin_look(struct tune_trial* trial, unsigned first, unsigned second);
/// Begins the confirmation after a race. Returns false if there is nothing to confirm.
int tune_begin_confirmation(struct tune_trial* trial, unsigned fastest);

double tune_median(const struct tune_trial* trial, unsigned candidate);
/// The fastest candidate, except the default and the candidate `without`; the default if there is no other one.
unsigned tune_fastest(const struct tune_trial* trial, unsigned without);
/// Whether the candidate is faster than the default, by more than noise.
int tune_gains(const struct tune_trial* trial, unsigned candidate);
