/* The Navier-Stokes equations of an incompressible fluid, and vapour that the flow carries, in wave numbers.
 *
 * du/dt = P(u x w) + nu lap u, dq/dt = -div(u q) + kappa lap q, with the vorticity w = rot u and the projection P on
 * fields without divergence. Products are computed at the points; wave numbers from n / 3 on are left out, so that no
 * product has a wrong wave number (the 2/3 rule). Time steps: Runge-Kutta of fourth order, with the exact decay by
 * viscosity as a factor. See C. Canuto et al., Spectral Methods: Evolution to Complex Geometries (2007), chapter 3.
 *
 * Start: the vortex of Taylor and Green, Proc. R. Soc. A 158 (1937) 499, as in Brachet et al., J. Fluid Mech. 130
 * (1983) 411. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dns.h"

enum { STAGES = 4, POWERS = 3, PRODUCTS = 6, REALS = FIELDS + PRODUCTS };

struct Flow {
  Grid grid;
  Fluid fluid;
  double complex *now[FIELDS], *next[FIELDS], *stage[FIELDS];
  double complex* work[TOGETHER]; /* of the fields and the vorticity; afterwards the rates of the fields */
  double* real[REALS];            /* the fields, u x w in place of the vorticity, and u q */
  double* decay[2][POWERS];       /* by k_x, in 0, 1 and 2 half steps: of the velocity, of the vapour */
  double dissipated, smoothed;    /* this rank's part */
};

static double damping(const Flow* f, int field) { return field == VAPOUR ? f->fluid.diffusivity : f->fluid.viscosity; }

/* A line of waves has the same k_y and k_z. If it is kept: k_j is base[j] + slope[j] k_x. */
static const double slope[3] = {1, 0, 0};

static int keeps(const Grid* g, size_t line, double base[3]) {
  const int y = wave_number(g, g->first + (int)(line / g->n)), z = wave_number(g, (int)(line % g->n));
  base[0] = 0, base[1] = y, base[2] = z;
  return abs(y) <= g->kept && abs(z) <= g->kept;
}

static size_t lines_of(const Grid* g) { return (size_t)g->planes * g->n; }

static double* line_in(const Grid* g, double complex* waves, size_t line) { return (double*)(waves + line * g->nx); }

static void dealias(const Grid* g, double complex* waves) {
  for (size_t line = 0; line < lines_of(g); ++line) {
    double base[3];
    const int first = keeps(g, line, base) ? g->kept + 1 : 0;
    memset(waves + line * g->nx + first, 0, sizeof *waves * (g->nx - first));
  }
}

static void begin(Flow* f) {
  const Grid* g = &f->grid;
  const double h = 2 * M_PI / g->n;
  for (size_t p = 0; p < g->points; ++p) {
    const double x = h * (p % g->n), y = h * (p / g->n % g->n), z = h * (g->first + p / g->n / g->n);
    f->real[0][p] = sin(x) * cos(y) * cos(z);
    f->real[1][p] = -cos(x) * sin(y) * cos(z);
    f->real[2][p] = 0;
    f->real[VAPOUR][p] = exp(-4 * (1 + cos(x))); /* a cloud around the plane x = pi */
  }
  to_waves(g, FIELDS, f->real, f->now);
  for (int c = 0; c < FIELDS; ++c) dealias(g, f->now[c]);
}

Flow* new_flow(const Grid* g, Fluid fluid) {
  Flow* f = calloc(1, sizeof *f);
  if (!f) stop("there is not enough memory");
  f->grid = *g, f->fluid = fluid;
  for (int c = 0; c < FIELDS; ++c) f->now[c] = new_waves(g), f->next[c] = new_waves(g), f->stage[c] = new_waves(g);
  for (int c = 0; c < TOGETHER; ++c) f->work[c] = new_waves(g);
  for (int c = 0; c < REALS; ++c) f->real[c] = new_real(g);
  for (int kind = 0; kind < 2; ++kind)
    for (int power = 0; power < POWERS; ++power) {
      double* of = f->decay[kind][power] = calloc(g->nx, sizeof *of);
      if (!of) stop("there is not enough memory");
      for (int i = 0; i < g->nx; ++i) of[i] = exp(-0.5 * fluid.step * power * damping(f, kind * VAPOUR) * i * i);
    }
  begin(f);
  return f;
}

void free_flow(Flow* f) {
  for (int c = 0; c < FIELDS; ++c) free_array(f->now[c]), free_array(f->next[c]), free_array(f->stage[c]);
  for (int c = 0; c < TOGETHER; ++c) free_array(f->work[c]);
  for (int c = 0; c < REALS; ++c) free_array(f->real[c]);
  for (int k = 0; k < 2 * POWERS; ++k) free(f->decay[k / POWERS][k % POWERS]);
  free(f);
}

/* One component of i k x u. */
static void rotate(Flow* f, double complex* const* u, int component) {
  const Grid* g = &f->grid;
  const int a = (component + 1) % 3, b = (component + 2) % 3;
  double complex* rotation = f->work[FIELDS + component];
  memset(rotation, 0, sizeof *rotation * g->modes);
#pragma omp parallel for
  for (size_t line = 0; line < lines_of(g); ++line) {
    double base[3];
    if (!keeps(g, line, base)) continue;
    const double *ua = line_in(g, u[a], line), *ub = line_in(g, u[b], line);
    double* out = line_in(g, rotation, line);
    for (int i = 0; i <= g->kept; ++i) {
      const double ka = base[a] + slope[a] * i, kb = base[b] + slope[b] * i;
      out[2 * i] = -(ka * ub[2 * i + 1] - kb * ua[2 * i + 1]);
      out[2 * i + 1] = ka * ub[2 * i] - kb * ua[2 * i];
    }
  }
}

/* The vapour's rate is -i k times its flux, of which it takes the place. */
static void diverge(Flow* f) {
  const Grid* g = &f->grid;
#pragma omp parallel for
  for (size_t line = 0; line < lines_of(g); ++line) {
    double base[3];
    if (!keeps(g, line, base)) continue;
    const double *y = line_in(g, f->work[VAPOUR + 1], line), *z = line_in(g, f->work[VAPOUR + 2], line);
    double* x = line_in(g, f->work[VAPOUR], line);
    for (int i = 0; i <= g->kept; ++i) {
      const double re = i * x[2 * i] + base[1] * y[2 * i] + base[2] * z[2 * i];
      const double im = i * x[2 * i + 1] + base[1] * y[2 * i + 1] + base[2] * z[2 * i + 1];
      x[2 * i] = im, x[2 * i + 1] = -re;
    }
  }
}

/* Removes the divergence of the velocity's rate: this is the effect of the pressure. */
static void project(Flow* f) {
  const Grid* g = &f->grid;
#pragma omp parallel for
  for (size_t line = 0; line < lines_of(g); ++line) {
    double base[3];
    if (!keeps(g, line, base)) continue;
    const double ky = base[1], kz = base[2], across = ky * ky + kz * kz;
    double *u = line_in(g, f->work[0], line), *v = line_in(g, f->work[1], line), *w = line_in(g, f->work[2], line);
    for (int i = 0; i < 2 * (g->kept + 1); ++i) {
      const double kx = i / 2, square = kx * kx + across;
      const double along = (kx * u[i] + ky * v[i] + kz * w[i]) / (square > 0 ? square : 1);
      u[i] -= kx * along, v[i] -= ky * along, w[i] -= kz * along;
    }
  }
}

/* u x w, in place of w, and u q. */
static void multiply(Flow* f) {
  const double *u = f->real[0], *v = f->real[1], *w = f->real[2], *q = f->real[VAPOUR];
  double *x = f->real[FIELDS], *y = f->real[FIELDS + 1], *z = f->real[FIELDS + 2];
  double *fx = f->real[FIELDS + 3], *fy = f->real[FIELDS + 4], *fz = f->real[FIELDS + 5];
#pragma omp parallel for simd
  for (size_t p = 0; p < f->grid.points; ++p) {
    const double a = x[p], b = y[p], c = z[p];
    x[p] = v[p] * c - w[p] * b;
    y[p] = w[p] * a - u[p] * c;
    z[p] = u[p] * b - v[p] * a;
    fx[p] = u[p] * q[p], fy[p] = v[p] * q[p], fz[p] = w[p] * q[p];
  }
}

/* The rates of the fields without viscosity and diffusion. Also leaves the fields at the points. */
static void find_rates(Flow* f, double complex* const* state) {
  const Grid* g = &f->grid;
  for (int c = 0; c < FIELDS; ++c) memcpy(f->work[c], state[c], sizeof *state[c] * g->modes);
  for (int c = 0; c < 3; ++c) rotate(f, state, c);
  to_real(g, FIELDS + 3, f->work, f->real);
  multiply(f);
  to_waves(g, PRODUCTS, f->real + FIELDS, f->work);
  project(f);
  diverge(f);
}

/* Sums over this rank's waves. Each wave with k_x > 0 stands also for its opposite. */
static Sums own_sums(const Flow* f, double complex* const* state) {
  const Grid* g = &f->grid;
  double energy = 0, enstrophy = 0, square = 0, gradient = 0, divergence = 0;
#pragma omp parallel for reduction(+ : energy, enstrophy, square, gradient) reduction(max : divergence)
  for (size_t line = 0; line < lines_of(g); ++line) {
    double base[3];
    if (!keeps(g, line, base)) continue;
    const double *u = line_in(g, state[0], line), *v = line_in(g, state[1], line), *w = line_in(g, state[2], line);
    const double *q = line_in(g, state[VAPOUR], line), ky = base[1], kz = base[2];
    for (int i = 0; i < 2 * (g->kept + 1); ++i) {
      const double kx = i / 2, k2 = kx * kx + ky * ky + kz * kz, times = kx > 0 ? 2 : 1;
      const double e = times * (u[i] * u[i] + v[i] * v[i] + w[i] * w[i]), s = times * q[i] * q[i];
      energy += 0.5 * e, enstrophy += 0.5 * k2 * e, square += 0.5 * s, gradient += k2 * s;
      divergence = fmax(divergence, fabs(kx * u[i] + ky * v[i] + kz * w[i]));
    }
  }
  const double mean = g->rank == 0 ? creal(state[VAPOUR][0]) : 0;
  return (Sums){energy, enstrophy, mean, square, gradient, divergence};
}

/* A stage of Runge and Kutta: adds to the next state, and finds where the next stage is. h: half a step of decay. */
static void combine(Flow* f, int c, int s) {
  static const int of_rate[STAGES] = {2, 1, 1, 0}, to_stage[STAGES] = {1, 1, 2, 0},
                   rate_to_stage[STAGES] = {1, 0, 1, 0};
  static const double weight[STAGES] = {1. / 6, 1. / 3, 1. / 3, 1. / 6}, part[STAGES] = {0.5, 0.5, 1, 0};
  const Grid* g = &f->grid;
  double** decay = f->decay[c == VAPOUR];
  const double *now_x = decay[2], *rate_x = decay[of_rate[s]], *stage_x = decay[to_stage[s]];
  const double *rate_stage_x = decay[rate_to_stage[s]], dt = f->fluid.step;
#pragma omp parallel for
  for (size_t line = 0; line < lines_of(g); ++line) {
    double base[3];
    if (!keeps(g, line, base)) continue;
    const double h = exp(-0.5 * dt * damping(f, c) * (base[1] * base[1] + base[2] * base[2])),
                 by[POWERS] = {1, h, h * h};
    const double a = s == 0 ? by[2] : 0, b = s == 0 ? 0 : 1, r = dt * weight[s] * by[of_rate[s]];
    const double n = by[to_stage[s]], m = dt * part[s] * by[rate_to_stage[s]];
    const double *now = line_in(g, f->now[c], line), *rate = line_in(g, f->work[c], line);
    double *next = line_in(g, f->next[c], line), *stage = line_in(g, f->stage[c], line);
    for (int i = 0; i < 2 * (g->kept + 1); ++i) {
      next[i] = b * next[i] + a * now_x[i / 2] * now[i] + r * rate_x[i / 2] * rate[i];
      stage[i] = n * stage_x[i / 2] * now[i] + m * rate_stage_x[i / 2] * rate[i];
    }
  }
}

void advance(Flow* f, Droplets* droplets) {
  static const double weight[STAGES] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  const double dt = f->fluid.step;
  for (int s = 0; s < STAGES; ++s) {
    double complex* const* state = s == 0 ? f->now : f->stage;
    const Sums sums = own_sums(f, state);
    f->dissipated += dt * weight[s] * 2 * f->fluid.viscosity * sums.enstrophy;
    f->smoothed += dt * weight[s] * f->fluid.diffusivity * sums.vapour_gradient;
    find_rates(f, state);
    move_droplets(droplets, &f->grid, f->real, s, dt);
    for (int c = 0; c < FIELDS; ++c) combine(f, c, s);
  }
  for (int c = 0; c < FIELDS; ++c) {
    double complex* const former = f->now[c];
    f->now[c] = f->next[c], f->next[c] = former;
  }
}

Sums sums_of(const Flow* f) {
  Sums own = own_sums(f, f->now), all;
  MPI_Allreduce(&own, &all, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* all but the last */
  MPI_Allreduce(&own.divergence, &all.divergence, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

static double over_ranks(double own) {
  double sum;
  MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

double dissipated(const Flow* f) { return over_ranks(f->dissipated); }

double smoothed(const Flow* f) { return over_ranks(f->smoothed); }

double* const* fields_of(Flow* f) {
  for (int c = 0; c < FIELDS; ++c) memcpy(f->work[c], f->now[c], sizeof *f->now[c] * f->grid.modes);
  to_real(&f->grid, FIELDS, f->work, f->real);
  return f->real;
}
