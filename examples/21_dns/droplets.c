/* Droplets. A simple model: each droplet moves with the flow, dx/dt = u(x), and grows or shrinks by d(r^2)/dt = 2 G
 * (q(x) - q_s). It has no weight, does not take vapour from the air, and does not meet others. u and q are linear
 * between the points. Every rank knows all droplets, and finds u and q for those that are in its slab: this is for at
 * most some 10^5 of them. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dns.h"

static const double growth = 0.5, saturation = 0.3; /* G and q_s */

enum { OF = 4 }; /* numbers of a droplet: x, y, z, r^2 */
typedef double Drop[OF];

struct Droplets {
  int count;
  Drop *all, *now, *next, *stage, *rate, *own;
};

/* A uniform number in [0, 1): SplitMix64, G. Steele et al., OOPSLA 2014. */
static double uniform(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Droplets* new_droplets(int count, unsigned long seed) {
  Droplets* d = calloc(1, sizeof *d);
  Drop* all = calloc(5 * (size_t)count + 1, sizeof *all);
  if (!d || !all) stop("there is not enough memory for %d droplets", count);
  *d = (Droplets){
      count, all, all, all + count, all + 2 * (size_t)count, all + 3 * (size_t)count, all + 4 * (size_t)count};
  uint64_t state = seed;
  for (int k = 0; k < count; ++k) {
    for (int c = 0; c < 3; ++c) d->now[k][c] = 2 * M_PI * uniform(&state);
    d->now[k][3] = 1;
  }
  return d;
}

void free_droplets(Droplets* d) {
  free(d->all);
  free(d);
}

/* The plane above this rank's slab is the first one of the next rank. */
static void fetch_planes(const Grid* g, double* const* fields) {
  const int plane = g->n * g->n, before = (g->rank + g->ranks - 1) % g->ranks, after = (g->rank + 1) % g->ranks;
  MPI_Request requests[2 * FIELDS];
  MPI_Status statuses[2 * FIELDS];
  for (int f = 0; f < FIELDS; ++f) {
    MPI_Irecv(fields[f] + g->points, plane, MPI_DOUBLE, after, f, MPI_COMM_WORLD, &requests[2 * f]);
    MPI_Isend(fields[f], plane, MPI_DOUBLE, before, f, MPI_COMM_WORLD, &requests[2 * f + 1]);
  }
  MPI_Waitall(2 * FIELDS, requests, statuses);
}

/* The cell of a coordinate, and the place within this cell from 0 to 1. */
static int cell_of(double x, int n, double* within) {
  const double cells = (x / (2 * M_PI) - floor(x / (2 * M_PI))) * n, cell = floor(cells);
  *within = cells - cell;
  return (int)cell % n;
}

/* Rates of one droplet, if it is in this rank's slab, and otherwise zeros. */
static void find_rate(const Grid* g, double* const* fields, const Drop at, Drop rate) {
  const int n = g->n;
  double a, b, c, found[FIELDS];
  const int x = cell_of(at[0], n, &a), y = cell_of(at[1], n, &b), z = cell_of(at[2], n, &c) - g->first;
  memset(rate, 0, sizeof(Drop));
  if (z < 0 || z >= g->planes) return;
  const int right = (x + 1) % n, behind = (y + 1) % n;
  for (int f = 0; f < FIELDS; ++f) {
    double level[2];
    for (int k = 0; k < 2; ++k) {
      const double* plane = fields[f] + (size_t)(z + k) * n * n;
      const double front = (1 - a) * plane[y * n + x] + a * plane[y * n + right];
      const double back = (1 - a) * plane[behind * n + x] + a * plane[behind * n + right];
      level[k] = (1 - b) * front + b * back;
    }
    found[f] = (1 - c) * level[0] + c * level[1];
  }
  for (int f = 0; f < 3; ++f) rate[f] = found[f];
  rate[3] = 2 * growth * (found[VAPOUR] - saturation);
}

/* The time step of the flow, a stage at a time: the same method of Runge and Kutta. */
void move_droplets(Droplets* d, const Grid* g, double* const* fields, int s, double dt) {
  static const double weight[] = {1. / 6, 1. / 3, 1. / 3, 1. / 6}, part[] = {0.5, 0.5, 1, 0};
  if (d->count == 0) return;
  fetch_planes(g, fields);
  const Drop* at = s == 0 ? d->now : d->stage;
#pragma omp parallel for
  for (int k = 0; k < d->count; ++k) find_rate(g, fields, at[k], d->own[k]);
  MPI_Allreduce(d->own, d->rate, OF * d->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double *now = *d->now, *next = *d->next, *stage = *d->stage, *rate = *d->rate;
  for (size_t k = 0; k < OF * (size_t)d->count; ++k) {
    next[k] = (s == 0 ? now[k] : next[k]) + dt * weight[s] * rate[k];
    stage[k] = now[k] + dt * part[s] * rate[k];
  }
  if (s < 3) return;
  for (int k = 0; k < d->count; ++k) d->next[k][3] = fmax(0, d->next[k][3]); /* it is gone */
  Drop* const former = d->now;
  d->now = d->next, d->next = former;
}

int count_of(const Droplets* d) { return d->count; }

void droplet(const Droplets* d, int k, double record[4]) {
  for (int c = 0; c < 3; ++c) record[c] = d->now[k][c] - 2 * M_PI * floor(d->now[k][c] / (2 * M_PI));
  record[3] = sqrt(d->now[k][3]);
}

void radii(const Droplets* d, double* mean, double* deviation) {
  double sum = 0, squares = 0;
  for (int k = 0; k < d->count; ++k) sum += sqrt(d->now[k][3]);
  *mean = d->count ? sum / d->count : 0;
  for (int k = 0; k < d->count; ++k) squares += pow(sqrt(d->now[k][3]) - *mean, 2);
  *deviation = d->count ? sqrt(squares / d->count) : 0;
}
