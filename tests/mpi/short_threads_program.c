// Threads that come and go, and threads that stay, all of which call MPI: short_threads_program WAY. Each rank prints
// bounds on the time in which its threads exist, without the first one: from their first to their last statement, and
// from before they are made until after they are gone. And the part of this in which the first one does not wait.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { many = 100, at_a_time = 4 };
static double inner, outer, both;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_here;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds) {
  const double end = now() + seconds;
  while (now() < end) {
  }
}

static void call_mpi(void) {
  int there = 1, here = 0;
  MPI_Sendrecv(&there, 1, MPI_INT, 0, 0, &here, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void add_inner(double begin) {
  pthread_mutex_lock(&lock);
  inner += now() - begin;
  pthread_mutex_unlock(&lock);
}

/// Computes first: a thread exists before it calls MPI.
static void* live_shortly(void* unused) {
  const double begin = now();
  compute(5e-3);
  call_mpi();
  add_inner(begin);
  return unused;
}

static void* live_long(void* unused) {
  const double begin = now();
  pthread_barrier_wait(&all_here);
  for (int k = 0; k < 20; ++k) {
    compute(1e-3);
    call_mpi();
  }
  pthread_barrier_wait(&all_here);
  add_inner(begin);
  return unused;
}

static void run(void* (*work)(void*), int threads) {
  pthread_t others[at_a_time];
  double begin[at_a_time];
  for (int k = 0; k < threads; ++k) begin[k] = now(), pthread_create(&others[k], NULL, work, NULL);
  both += now() - begin[0];
  for (int k = 0; k < threads; ++k) pthread_join(others[k], NULL), outer += now() - begin[k];
}

int main(int n, char** words) {
  const char* const way = n > 1 ? words[1] : "alone";
  int level, rank;
  MPI_Init_thread(&n, &words, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_barrier_init(&all_here, NULL, at_a_time);
  if (strcmp(way, "alone") == 0) {
    for (int k = 0; k < 20; ++k) compute(1e-3), call_mpi();
  } else if (strcmp(way, "one_by_one") == 0) {
    for (int k = 0; k < many; ++k) run(live_shortly, 1);
  } else if (strcmp(way, "one_by_one_with_main") == 0) {
    for (int k = 0; k < many; ++k) call_mpi(), run(live_shortly, 1);
  } else if (strcmp(way, "pool") == 0) {
    call_mpi();
    run(live_long, at_a_time);
  } else if (strcmp(way, "late") == 0) {  // for a tenth of the run at most, there are several threads
    call_mpi();
    const double begin = now();
    run(live_long, at_a_time);
    compute(9 * (now() - begin));
  }
  printf("lives %d %.9f %.9f %.9f\n", rank, inner, outer, both);
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
