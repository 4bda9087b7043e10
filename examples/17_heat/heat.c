// The temperature of a square plate with a hot upper edge, by Jacobi's method. Each rank computes some of the rows.
// heat STEPS PERIOD WEIGHT: the ranks compare their largest changes after every PERIOD steps. Rank 0 gets WEIGHT times
// as many rows as each other rank.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 256 };  // cells of each edge
typedef double Row[N + 2];

static int rank, size;

/// Sends the outer rows to the neighbours, and receives theirs.
static void exchange(Row* t, int rows) {
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[4];
  MPI_Irecv(t[0], N + 2, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(t[rows + 1], N + 2, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(t[1], N + 2, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(t[rows], N + 2, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/// Returns the largest change.
static double step(Row* from, Row* to, int rows) {
  double change = 0;
  for (int i = 1; i <= rows; ++i) {
    for (int k = 1; k <= N; ++k) {
      to[i][k] = (from[i - 1][k] + from[i + 1][k] + from[i][k - 1] + from[i][k + 1]) / 4;
      change = fmax(change, fabs(to[i][k] - from[i][k]));
    }
  }
  return change;
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = n > 1 ? atoi(words[1]) : 1000, period = n > 2 ? atoi(words[2]) : 1;
  const double weight = n > 3 ? atof(words[3]) : 1;
  const int others = (int)(N / (weight + size - 1)), rows = rank == 0 ? N - (size - 1) * others : others;
  Row *t = calloc(rows + 2, sizeof *t), *next = calloc(rows + 2, sizeof *next);
  for (int k = 0; rank == 0 && k < N + 2; ++k) t[0][k] = next[0][k] = 100;
  double largest = 0;
  for (int s = 1; s <= steps; ++s) {
    exchange(t, rows);
    const double change = step(t, next, rows);
    Row* const former = t;
    t = next, next = former;
    if (s % period == 0) MPI_Allreduce(&change, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("largest change: %.4f\n", largest);
  MPI_Finalize();
  return 0;
}
