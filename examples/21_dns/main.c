/* dns: the vortex of Taylor and Green in a periodic box, with a cloud of vapour and droplets. See `dns --help`. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "dns.h"

static int n = 32, steps = 20, droplet_count = 2000, seed = 1, threads = 1, writes = 0, reads = 0, every = 10;
static double reynolds = 100, schmidt = 0.7, step = 0;
static const char *way = "mpi", *curve = "";

static const struct {
  const char *name, *about;
  int* whole;
  double* real;
  const char** text;
} options[] = {
    {"--n", "points of each direction", &n, NULL, NULL},
    {"--steps", "number of time steps", &steps, NULL, NULL},
    {"--step", "length of a time step; 0: 0.64 / n", NULL, &step, NULL},
    {"--reynolds", "1 / viscosity", NULL, &reynolds, NULL},
    {"--schmidt", "viscosity / diffusivity of the vapour", NULL, &schmidt, NULL},
    {"--droplets", "number of droplets", &droplet_count, NULL, NULL},
    {"--seed", "of the first places of the droplets", &seed, NULL, NULL},
    {"--threads", "OpenMP threads of each rank", &threads, NULL, NULL},
    {"--writes", "how often fields and droplets are written, at equal distances", &writes, NULL, NULL},
    {"--reads", "how many of these files are read back and compared", &reads, NULL, NULL},
    {"--io", "how fields are written: mpi (MPI-IO, collective) or posix (a line of points at a time)", NULL, NULL,
     &way},
    {"--curve", "a file for time, energy and enstrophy", NULL, NULL, &curve},
    {"--every", "time steps between two lines of this file", &every, NULL, NULL},
};
enum { OPTIONS = sizeof options / sizeof *options };

static void help(void) {
  puts("dns: the vortex of Taylor and Green in a periodic box, with a cloud of vapour and droplets");
  for (int k = 0; k < OPTIONS; ++k) printf("  %-11s %s\n", options[k].name, options[k].about);
}

static void read_option(const char* name, const char* value) {
  int k = 0;
  while (k < OPTIONS && strcmp(name, options[k].name) != 0) ++k;
  if (k == OPTIONS) stop_together("there is no option %s; dns --help lists them", name);
  if (!value) stop_together("%s: a value must follow", name);
  char* end = "";
  if (options[k].text) *options[k].text = value;
  if (options[k].real) *options[k].real = strtod(value, &end);
  if (options[k].whole) *options[k].whole = (int)strtol(value, &end, 10);
  if (*end || !*value) stop_together("%s %s: this must be a number", name, value);
}

static void check_options(void) {
  if (steps < 1 || every < 1 || threads < 1 || droplet_count < 0 || droplet_count > 10000000)
    stop_together("--steps, --every and --threads must be at least 1, --droplets from 0 to 10000000");
  if (!(reynolds > 0) || !(schmidt > 0) || step < 0) stop_together("--reynolds, --schmidt and --step must be positive");
  if (writes < 0 || writes > steps || reads < 0 || reads > writes)
    stop_together("--writes %d --reads %d: at most as many reads as writes, and as many writes as steps", writes,
                  reads);
  if (strcmp(way, "mpi") != 0 && strcmp(way, "posix") != 0) stop_together("--io %s: this must be mpi or posix", way);
  if (step == 0) step = 0.64 / n;
}

/* All ranks begin together, so that the slowest one counts. */
static double now_s(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_Wtime();
}

typedef struct {
  double write_s, read_s;
} Spent;

static void describe(const Grid* g, int count) {
  if (g->rank != 0) return;
  FILE* file = fopen("dns.json", "w");
  if (!file) stop("dns.json cannot be written");
  fprintf(file, "{\"n\": %d, \"reynolds\": %.17g, \"droplets\": %d, \"times\": [", n, reynolds, droplet_count);
  for (int k = 1; k <= count; ++k) fprintf(file, "%s%.17g", k > 1 ? ", " : "", step * ((long)k * steps / writes));
  fprintf(file, "]}\n");
  if (fclose(file)) stop("dns.json cannot be written");
}

static void write_and_read(int number, const Grid* g, Flow* flow, const Droplets* droplets, double** read,
                           Spent* spent) {
  char fields_name[32], droplets_name[32];
  snprintf(fields_name, sizeof fields_name, "fields-%04d.bin", number);
  snprintf(droplets_name, sizeof droplets_name, "droplets-%04d.bin", number);
  const int by_mpi = strcmp(way, "mpi") == 0;
  double* const* fields = fields_of(flow);
  double begun_s = now_s();
  write_fields(fields_name, g, fields, by_mpi);
  write_droplets(droplets_name, g, droplets);
  spent->write_s += now_s() - begun_s;
  describe(g, number);
  if (number > reads) return;
  begun_s = now_s();
  read_fields(fields_name, g, read, by_mpi);
  int differ = droplets_differ(droplets_name, g, droplets);
  spent->read_s += now_s() - begun_s;
  for (int f = 0; f < FIELDS; ++f) differ |= memcmp(fields[f], read[f], sizeof(double) * g->points) != 0;
  if (differ) stop("%s or %s is not what was written", fields_name, droplets_name);
}

static void add_to_curve(FILE* file, int at, const Flow* flow) {
  const Sums sums = sums_of(flow);
  if (file) fprintf(file, "%.10g %.17g %.17g\n", at * step, sums.energy, sums.enstrophy);
}

/* The energy that is gone must be what viscosity took. Returns the relative error. */
static double error_of(double before, double after, double taken) { return fabs(after + taken - before) / before; }

static void report(const Flow* flow, const Droplets* droplets, Sums first, double total_s, Spent spent, int rank) {
  const Sums sums = sums_of(flow);
  const double energy = error_of(first.energy, sums.energy, dissipated(flow));
  const double vapour = error_of(first.vapour_square, sums.vapour_square, smoothed(flow));
  const double lost = fabs(sums.vapour - first.vapour) / first.vapour;
  double mean, deviation;
  radii(droplets, &mean, &deviation);
  if (rank == 0) {
    printf("time = %.10g\nenergy = %.16g\nenstrophy = %.16g\n", steps * step, sums.energy, sums.enstrophy);
    printf("energy_error = %.3g\nvapour_error = %.3g\nvapour_lost = %.3g\n", energy, vapour, lost);
    printf("divergence = %.3g\nradius = %.16g\nradius_deviation = %.16g\n", sums.divergence, mean, deviation);
    printf("compute_s = %.6f\n", total_s - spent.write_s - spent.read_s);
    printf("write_s = %.6f\nread_s = %.6f\ntotal_s = %.6f\n", spent.write_s, spent.read_s, total_s);
    fflush(stdout);
  }
  if (!(energy < 1e-5 && vapour < 1e-4 && lost < 1e-12 && sums.divergence < 1e-12))
    stop_together("the result is wrong: relative errors are %.3g in energy and %.3g in vapour; try a shorter --step",
                  energy, vapour);
}

static void simulate(const Grid* g) {
  Flow* flow = new_flow(g, (Fluid){1 / reynolds, 1 / (reynolds * schmidt), step});
  Droplets* droplets = new_droplets(droplet_count, (unsigned long)seed);
  double* read[FIELDS];
  for (int f = 0; f < FIELDS; ++f) read[f] = new_real(g);
  FILE* file = g->rank == 0 && *curve ? fopen(curve, "w") : NULL;
  if (g->rank == 0 && *curve && !file) stop("--curve %s: this file cannot be written", curve);
  const Sums first = sums_of(flow);
  Spent spent = {0, 0};
  if (*curve) add_to_curve(file, 0, flow);
  const double begun_s = now_s();
  for (int at = 1, written = 0; at <= steps; ++at) {
    advance(flow, droplets);
    if (*curve && at % every == 0) add_to_curve(file, at, flow);
    if (writes > 0 && at == (long)(written + 1) * steps / writes)
      write_and_read(++written, g, flow, droplets, read, &spent);
  }
  report(flow, droplets, first, now_s() - begun_s, spent, g->rank);
  if (file && fclose(file)) stop("--curve %s: this file cannot be written", curve);
  for (int f = 0; f < FIELDS; ++f) free_array(read[f]);
  free_droplets(droplets);
  free_flow(flow);
}

/* The processor lacks what the compiler was told to use. */
static void say_illegal(int number) {
  static const char why[] = "dns: illegal instruction: this processor lacks the vector units for which dns was built\n";
  (void)number;
  _exit(write(STDERR_FILENO, why, sizeof why - 1) < 0 ? 3 : 2);
}

int main(int count, char** words) {
  int provided;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  signal(SIGILL, say_illegal); /* after MPI_Init, because some libraries set one of their own */
  if (count > 1 && strcmp(words[1], "--help") == 0) {
    help();
    MPI_Finalize();
    return 0;
  }
  for (int k = 1; k < count; k += 2) read_option(words[k], k + 1 < count ? words[k + 1] : NULL);
  check_options();
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  Grid grid;
  begin_transforms(&grid, n);
  simulate(&grid);
  end_transforms();
  MPI_Finalize();
  return 0;
}
