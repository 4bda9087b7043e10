/* The function that the studies of study_rate evaluate. The value is the first parameter, so that the caller can check
it. */
#define _GNU_SOURCE
#include <culmen/evaluator.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

int answer(const culmen_candidate* c, culmen_result* r) { return culmen_set_value(r, c->x[0]); }

/* Sleeps CULMEN_BENCH_SLEEP_US microseconds, to the nanosecond: a thread's wake-ups may otherwise come 50 us late. */
int sleep_and_answer(const culmen_candidate* c, culmen_result* r) {
  static _Thread_local struct timespec duration = {-1, 0};
  if (duration.tv_sec < 0) {
    const char* text = getenv("CULMEN_BENCH_SLEEP_US");
    const long us = text ? atol(text) : 0;
    duration.tv_sec = us / 1000000;
    duration.tv_nsec = us % 1000000 * 1000;
    prctl(PR_SET_TIMERSLACK, 1);
  }
  nanosleep(&duration, NULL);
  return answer(c, r);
}
