/* Turbulence in a periodic box: the parts of the program dns. Lengths: the box has edges of 2 pi. Everything has no
 * unit. */
#ifndef DNS_H
#define DNS_H

#include <complex.h>
#include <mpi.h>
#include <stddef.h>

enum { FIELDS = 4, VAPOUR = 3 }; /* three components of the velocity, and the vapour */
enum { TOGETHER = 7 };           /* largest number of fields that are transformed together */

/* A grid of n^3 points, in slabs. Each rank has planes of equal z; in wave numbers, it has planes of equal k_y. */
typedef struct {
  int n, ranks, rank;
  int first, planes; /* of this rank, in z and in k_y */
  int nx;            /* wave numbers k_x >= 0 */
  int kept;          /* the largest wave number of each direction after dealiasing */
  size_t points, modes;
} Grid;

/* transform.c: Fourier transforms. real[plane z][y][x], waves[plane k_y][k_z][k_x] */
void begin_transforms(Grid* grid, int n);
void end_transforms(void);
double* new_real(const Grid* grid); /* has one more plane, for the first one of the next rank */
double complex* new_waves(const Grid* grid);
void free_array(void* array);
void to_waves(const Grid* grid, int fields, double* const* real, double complex* const* waves); /* keeps real */
void to_real(const Grid* grid, int fields, double complex* const* waves, double* const* real);  /* destroys waves */
int wave_number(const Grid* grid, int index);

/* flow.c: the equations of the flow and of the vapour */
typedef struct {
  double viscosity, diffusivity, step;
} Fluid;

typedef struct {
  double energy, enstrophy, vapour, vapour_square, vapour_gradient, divergence;
} Sums;

typedef struct Flow Flow;
typedef struct Droplets Droplets;

Flow* new_flow(const Grid* grid, Fluid fluid);
void free_flow(Flow* flow);
void advance(Flow* flow, Droplets* droplets); /* one time step */
Sums sums_of(const Flow* flow);               /* over all ranks */
double dissipated(const Flow* flow);          /* energy since the beginning, by the integral of its rate */
double smoothed(const Flow* flow);            /* the same for half the square of the vapour */
double* const* fields_of(Flow* flow);         /* at the points of this rank, at this time */

/* droplets.c: droplets, which follow the flow and grow where there is much vapour */
Droplets* new_droplets(int count, unsigned long seed);
void free_droplets(Droplets* droplets);
void move_droplets(Droplets* droplets, const Grid* grid, double* const* fields, int stage, double step);
int count_of(const Droplets* droplets);
void droplet(const Droplets* droplets, int k, double record[4]); /* x, y, z, radius */
void radii(const Droplets* droplets, double* mean, double* deviation);

/* files.c: writing, and reading back. Both say whether the files were written by MPI-IO (1) or by small writes (0). */
void write_fields(const char* name, const Grid* grid, double* const* fields, int by_mpi);
void read_fields(const char* name, const Grid* grid, double* const* fields, int by_mpi);
void write_droplets(const char* name, const Grid* grid, const Droplets* droplets);
int droplets_differ(const char* name, const Grid* grid, const Droplets* droplets);
_Noreturn void stop(const char* format, ...);          /* one sentence, and the end of all ranks */
_Noreturn void stop_together(const char* format, ...); /* the same, if all ranks call it: the sentence stands once */

#endif
