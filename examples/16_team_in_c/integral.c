/* A function in C that the ranks of a team compute together: the integral of |exp(-a x) - cos(b x)| from 0 to 1. */
#include <culmen/evaluator.h>
#include <math.h>
#include <mpi.h>

int integral(const culmen_candidate* c, culmen_result* r) {
  if (c->team_size == 0) {
    culmen_set_error(r, "start the study with culmen launch and --team-size");
    return 1;
  }
  const MPI_Comm team = MPI_Comm_f2c(c->communicator);
  const int steps = 1000000;
  int rank;
  MPI_Comm_rank(team, &rank);
  double mine = 0, all = 0;
  for (int i = rank; i < steps; i += c->team_size) {
    const double x = (i + 0.5) / steps;
    mine += fabs(exp(-c->x[0] * x) - cos(c->x[1] * x)) / steps;
  }
  MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, team);
  return rank == 0 ? culmen_set_value(r, all) : 0;
}
