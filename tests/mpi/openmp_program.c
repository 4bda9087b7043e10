// Parallel regions of which it knows how much their threads work: half of the time.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <time.h>

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(void) {
  for (const double end_s = now_s() + 0.1; now_s() < end_s;) {
  }
}

int main(int count, char** words) {
  enum { n = 1000 };
  long sum = 0, parts = 0;
  MPI_Init(&count, &words);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) work();
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) work();
#pragma omp barrier
    if (omp_get_thread_num() == 1) work();
  }
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
  MPI_Finalize();
#pragma omp parallel num_threads(2) reduction(+ : parts)
  parts += 1;
  printf("sum %ld, parts %ld\n", sum, parts);
}
