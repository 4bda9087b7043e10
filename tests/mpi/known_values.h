// Values of each rank and element, so that each result of a collective is known; and the count of wrong ones.
#pragma once
#include <stdio.h>

static int rank, size, wrong;

static void expect(int is_right, const char* what, int count) {
  if (is_right) return;
  if (wrong++ < 5) fprintf(stderr, "rank %d of %d: %s of %d is wrong\n", rank, size, what, count);
}

static int value(int of, int k) { return 1000 * (of + 1) + k; }
/// Of the first ranks.
static int sum_of(int ranks, int k) { return 1000 * (ranks * (ranks + 1) / 2) + ranks * k; }
