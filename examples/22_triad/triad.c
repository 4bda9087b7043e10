/* triad MEGABYTES: how fast can this machine compute a = b + 3 c? This is the triad of STREAM (J. D. McCalpin, IEEE
TCCA Newsletter, December 1995), with arrays of the given size. Prints the highest of ten bandwidths. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEAT = 10 };

static double triad_s(double* restrict a, const double* restrict b, const double* restrict c, long n) {
  const double begun_s = omp_get_wtime();
#pragma omp parallel for schedule(runtime)
  for (long i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
  return omp_get_wtime() - begun_s;
}

int main(int count, char** words) {
  const long n = count == 2 ? atol(words[1]) * 1000000 / (long)sizeof(double) : 0;
  if (n < 1) return fprintf(stderr, "triad: give the size of an array in megabytes\n"), 2;
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
  if (!a || !b || !c) return fprintf(stderr, "triad: there is not enough memory\n"), 3;
#pragma omp parallel for schedule(runtime) /* as in triad_s, so that each thread fills the part that it uses */
  for (long i = 0; i < n; ++i) a[i] = 0, b[i] = i % 7, c[i] = i % 5;
  double least_s = 1e300;
  for (int k = 0; k < REPEAT; ++k) {
    const double seconds = triad_s(a, b, c, n);
    if (seconds < least_s) least_s = seconds;
  }
  for (long i = 0; i < n; ++i)
    if (a[i] != i % 7 + 3.0 * (i % 5)) return fprintf(stderr, "triad: the result is wrong\n"), 1;
  printf("bandwidth = %.6g\n", 24e-9 * n / least_s); /* GB/s: two arrays are read, one is written */
  return 0;
}
