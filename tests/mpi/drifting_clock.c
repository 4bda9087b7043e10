// For the benchmark of collectives: each rank is a machine of its own. The clocks of odd ranks are 5 s ahead and run 1
// % too fast. Linked with --wrap.
#include <mpi.h>
#include <time.h>

int __real_clock_gettime(clockid_t clock, struct timespec* t);
int __real_MPI_Comm_split_type(MPI_Comm from, int kind, int key, MPI_Info info, MPI_Comm* made);

static int rank;

int __wrap_MPI_Comm_split_type(MPI_Comm from, int kind, int key, MPI_Info info, MPI_Comm* made) {
  (void)kind, (void)info;
  MPI_Comm_rank(from, &rank);
  return MPI_Comm_split(from, rank, key, made);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec* t) {
  static double begin_s;
  const int failed = __real_clock_gettime(clock, t);
  const double now_s = (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
  if (rank % 2 == 0) return failed;
  if (begin_s == 0) begin_s = now_s;
  const double shown_s = now_s + 5 + 0.01 * (now_s - begin_s);
  t->tv_sec = (time_t)shown_s;
  t->tv_nsec = (long)(1e9 * (shown_s - (double)t->tv_sec));
  return failed;
}
