/* The cost functions of `culmen bench transport`. The first parameter is the duration in seconds; it is also the value,
 * so that the master can check each answer. */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <time.h>

#include "culmen/worker/core/evaluator.h"

/* To the nanosecond: otherwise the system may wake a thread 50 us late. */
int culmen_cost_sleep(const culmen_candidate* c, culmen_result* r) {
  static _Thread_local int set = 0;
  if (!set) set = prctl(PR_SET_TIMERSLACK, 1) == 0;
  const time_t whole = (time_t)c->x[0];
  struct timespec duration = {whole, (long)((c->x[0] - (double)whole) * 1e9)};
  while (nanosleep(&duration, &duration) != 0) {
  }
  return culmen_set_value(r, c->x[0]);
}

static double cpu_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* CPU time, so that the work does not become less when workers share a CPU. */
int culmen_cost_busy(const culmen_candidate* c, culmen_result* r) {
  const double begin = cpu_s();
  while (cpu_s() - begin < c->x[0]) {
  }
  return culmen_set_value(r, c->x[0]);
}
