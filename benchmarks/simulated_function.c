/* Sleeps for a log-normal time with a mean of CULMEN_BENCH_MEAN_S and a spread of 0.5, which depends on the number of
 * the evaluation and on CULMEN_BENCH_SEED. The value is the distance from a point. */
#define _GNU_SOURCE
#include <culmen/evaluator.h>
#include <math.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static double uniform(uint64_t* state) { /* splitmix64 */
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double number(const char* name, double otherwise) {
  const char* text = getenv(name);
  return text ? atof(text) : otherwise;
}

int sleep_log_normal(const culmen_candidate* c, culmen_result* r) {
  const double spread = 0.5;
  uint64_t state = c->evaluation + (uint64_t)number("CULMEN_BENCH_SEED", 1) * 1000003;
  const double radius = sqrt(-2 * log(uniform(&state)));
  const double normal = radius * cos(2 * 3.14159265358979323846 * uniform(&state));
  const double seconds = number("CULMEN_BENCH_MEAN_S", 0.1) * exp(spread * normal - spread * spread / 2);
  const struct timespec duration = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
  prctl(PR_SET_TIMERSLACK, 1);
  nanosleep(&duration, NULL);
  double sum = 0;
  for (size_t i = 0; i < c->size; i++) sum += (c->x[i] - 1) * (c->x[i] - 1);
  return culmen_set_value(r, sum);
}
