/* Fourier transforms of slabs: planes by FFTW, then an exchange of all ranks with all, then the third direction by
 * FFTW. */
#include <complex.h>
/* before FFTW, whose numbers are then those of C */
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

#include "dns.h"

enum { MOST_POINTS = 1024 };

static fftw_plan plane_forward, plane_backward, line_forward, line_backward;
static double complex *sent, *received;

static void* allocated(size_t bytes) {
  void* memory = fftw_malloc(bytes);
  if (!memory) stop("there is not enough memory for %zu bytes", bytes);
  return memset(memory, 0, bytes);
}

double* new_real(const Grid* g) { return allocated(sizeof(double) * (size_t)(g->planes + 1) * g->n * g->n); }

double complex* new_waves(const Grid* g) { return allocated(sizeof(double complex) * g->modes); }

void free_array(void* array) { fftw_free(array); }

int wave_number(const Grid* g, int index) { return index <= g->n / 2 ? index : index - g->n; }

void begin_transforms(Grid* g, int n) {
  MPI_Comm_size(MPI_COMM_WORLD, &g->ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &g->rank);
  if (n < 8 || n > MOST_POINTS || n % 2 || n % g->ranks)
    stop_together("--n %d: the grid must have an even number of points from 8 to %d that %d ranks can share", n,
                  MOST_POINTS, g->ranks);
  g->n = n, g->nx = n / 2 + 1, g->kept = (n - 1) / 3;
  g->planes = n / g->ranks, g->first = g->rank * g->planes;
  g->points = (size_t)g->planes * n * n, g->modes = (size_t)g->planes * n * g->nx;
  sent = allocated(TOGETHER * sizeof *sent * g->modes), received = allocated(TOGETHER * sizeof *sent * g->modes);
  double* real = new_real(g);
  const int nx = g->nx;
  const unsigned how = FFTW_ESTIMATE | FFTW_UNALIGNED; /* the same roundings for every plane and every run */
  plane_forward = fftw_plan_dft_r2c_2d(n, n, real, sent, how | FFTW_PRESERVE_INPUT);
  plane_backward = fftw_plan_dft_c2r_2d(n, n, sent, real, how);
  line_forward = fftw_plan_many_dft(1, &n, nx, sent, NULL, nx, 1, sent, NULL, nx, 1, FFTW_FORWARD, how);
  line_backward = fftw_plan_many_dft(1, &n, nx, sent, NULL, nx, 1, sent, NULL, nx, 1, FFTW_BACKWARD, how);
  fftw_free(real);
}

void end_transforms(void) {
  fftw_destroy_plan(plane_forward), fftw_destroy_plan(plane_backward);
  fftw_destroy_plan(line_forward), fftw_destroy_plan(line_backward);
  fftw_free(sent), fftw_free(received);
}

static size_t line_at(const Grid* g, int fields, int rank, int field, int there, int here) {
  return (((size_t)rank * fields + field) * g->planes + there) * g->planes + here;
}

/* Each rank gets the lines of its own k_y, or of its own z. All fields travel in one message for each rank. */
static void exchange(const Grid* g, int fields, double complex* const* waves) {
  const size_t row = g->nx, bytes = row * sizeof(double complex);
  const int n = g->n, planes = g->planes, count = 2 * fields * planes * planes * g->nx;
#pragma omp parallel for collapse(2)
  for (int f = 0; f < fields; ++f)
    for (int p = 0; p < planes; ++p)
      for (int k = 0; k < n; ++k) {
        const size_t line = line_at(g, fields, k / planes, f, p, k % planes);
        memcpy(sent + line * row, waves[f] + ((size_t)p * n + k) * row, bytes);
      }
  if (g->ranks > 1) MPI_Alltoall(sent, count, MPI_DOUBLE, received, count, MPI_DOUBLE, MPI_COMM_WORLD);
  const double complex* arrived = g->ranks > 1 ? received : sent;
#pragma omp parallel for collapse(2)
  for (int f = 0; f < fields; ++f)
    for (int p = 0; p < planes; ++p)
      for (int k = 0; k < n; ++k) {
        const size_t line = line_at(g, fields, k / planes, f, k % planes, p);
        memcpy(waves[f] + ((size_t)p * n + k) * row, arrived + line * row, bytes);
      }
}

void to_waves(const Grid* g, int fields, double* const* real, double complex* const* waves) {
  const size_t plane = (size_t)g->n * g->nx, points = (size_t)g->n * g->n;
  const double scale = 1.0 / ((double)g->n * g->n * g->n);
#pragma omp parallel for collapse(2)
  for (int f = 0; f < fields; ++f)
    for (int p = 0; p < g->planes; ++p) fftw_execute_dft_r2c(plane_forward, real[f] + p * points, waves[f] + p * plane);
  exchange(g, fields, waves);
#pragma omp parallel for collapse(2)
  for (int f = 0; f < fields; ++f)
    for (int p = 0; p < g->planes; ++p) {
      double complex* at = waves[f] + p * plane;
      fftw_execute_dft(line_forward, at, at);
      for (size_t k = 0; k < plane; ++k) at[k] *= scale;
    }
}

void to_real(const Grid* g, int fields, double complex* const* waves, double* const* real) {
  const size_t plane = (size_t)g->n * g->nx, points = (size_t)g->n * g->n;
#pragma omp parallel for collapse(2)
  for (int f = 0; f < fields; ++f)
    for (int p = 0; p < g->planes; ++p) fftw_execute_dft(line_backward, waves[f] + p * plane, waves[f] + p * plane);
  exchange(g, fields, waves);
#pragma omp parallel for collapse(2)
  for (int f = 0; f < fields; ++f)
    for (int p = 0; p < g->planes; ++p)
      fftw_execute_dft_c2r(plane_backward, waves[f] + p * plane, real[f] + p * points);
}
