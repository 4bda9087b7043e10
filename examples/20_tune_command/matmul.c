/* Multiplies two matrices in blocks, checks the result, and prints the speed: matmul ORDER BLOCK */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 256, REPEAT = 4 };

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int end_of(int begin, int block) { return begin + block < N ? begin + block : N; }

/* One block of c += a * b. */
static void multiply(const double* a, const double* b, double* c, int i0, int j0, int k0, int block, int by_rows) {
  const int i1 = end_of(i0, block), j1 = end_of(j0, block), k1 = end_of(k0, block);
  for (int i = i0; i < i1; ++i) {
    if (by_rows) {
      for (int k = k0; k < k1; ++k)
        for (int j = j0; j < j1; ++j) c[i * N + j] += a[i * N + k] * b[k * N + j];
    } else {
      for (int j = j0; j < j1; ++j) {
        double sum = 0;
        for (int k = k0; k < k1; ++k) sum += a[i * N + k] * b[k * N + j];
        c[i * N + j] += sum;
      }
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int by_rows = strcmp(argv[1], "ikj") == 0, block = atoi(argv[2]);
  if (block < 1) return 2;
  double* a = malloc(sizeof(double) * N * N);
  double* b = malloc(sizeof(double) * N * N);
  double* c = calloc(N * N, sizeof(double));
  if (!a || !b || !c) return 3;
  for (int i = 0; i < N * N; ++i) {
    a[i] = i % 7;
    b[i] = i % 5;
  }
  const double begun_s = now_s();
  for (int r = 0; r < REPEAT; ++r)
    for (int i = 0; i < N; i += block)
      for (int k = 0; k < N; k += block)
        for (int j = 0; j < N; j += block) multiply(a, b, c, i, j, k, block, by_rows);
  const double seconds = now_s() - begun_s;
  double wanted = 0; /* of one element; all numbers are integers, so that the sums are exact */
  for (int k = 0; k < N; ++k) wanted += a[3 * N + k] * b[k * N + 4];
  if (c[3 * N + 4] != REPEAT * wanted) {
    fprintf(stderr, "the result is wrong\n");
    return 1;
  }
  printf("GFLOPS = %.6g\n", 2e-9 * N * N * N * REPEAT / seconds);
  return 0;
}
