// Parallel regions of which it knows how much their threads work: on a machine that is not busy, half of the time.
// Each rank prints bounds on this share: the work that it has certainly done, and the waits that it has certainly seen,
// both of the time from before to after all regions.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const double work_s = 0.1;
static double ended_s[2];  // of each thread, the moment at which its work ended, or was not there

static void work(int number) {
  for (const double end_s = now_s() + (omp_get_thread_num() == number ? work_s : 0); now_s() < end_s;) {
  }
  ended_s[omp_get_thread_num()] = now_s();
}

static double waited_s(int number) {
  const double waited = ended_s[1 - number] - ended_s[number];
  return waited > 0 ? waited : 0;
}

int main(int count, char** words) {
  enum { n = 1000 };
  long sum = 0, parts = 0;
  int rank;
  double waits_s = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begin_s = now_s();
#pragma omp parallel num_threads(2)
  work(0);
  waits_s += waited_s(1);
#pragma omp parallel num_threads(2)
  {
    work(0);
#pragma omp barrier
#pragma omp master
    waits_s += waited_s(1);
#pragma omp barrier
    work(1);
  }
  waits_s += waited_s(0);
  for (int few = 0; few < 2; ++few) {
#pragma omp parallel for num_threads(2) reduction(+ : sum)
    for (int k = 0; k < n; ++k) sum += k;
#pragma omp parallel for num_threads(2) reduction(+ : sum) schedule(dynamic, 7)
    for (int k = 0; k < n; ++k) sum += k;
#pragma omp parallel for num_threads(2) reduction(+ : sum) schedule(guided, 7)
    for (int k = 0; k < n; ++k) sum += k;
#pragma omp parallel for num_threads(2) reduction(+ : sum) schedule(runtime)
    for (int k = 0; k < n; ++k) sum += k;
#pragma omp parallel sections num_threads(2) reduction(+ : parts)
    {
#pragma omp section
      parts += 1;
#pragma omp section
      parts += 2;
    }
  }
  const double room_s = 2 * (now_s() - begin_s);
  printf("share %d %.9f %.9f\n", rank, 3 * work_s / room_s, 1 - waits_s / room_s);
  fflush(stdout);
  MPI_Finalize();
#pragma omp parallel num_threads(2) reduction(+ : parts)
  parts += 1;
  printf("sum %ld, parts %ld\n", sum, parts);
}
