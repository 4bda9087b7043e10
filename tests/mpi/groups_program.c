// Three ranks make communicators in which only some of them take part.
#include <mpi.h>
#include <stdio.h>

static MPI_Group all;
static int rank;

static void add(MPI_Comm comm) {
  int one = 1, sum;
  for (int k = 0; k < 40; ++k) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
}

static void make(int n, const int* members, int tag) {
  MPI_Group group;
  MPI_Comm made, copy;
  int place;
  MPI_Group_incl(all, n, members, &group);
  MPI_Group_rank(group, &place);
  if (place != MPI_UNDEFINED) {
    MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &made);
    MPI_Comm_dup(made, &copy);
    MPI_Barrier(copy);
    add(made);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&group);
}

static void merge(void) {
  MPI_Comm side, between, merged;
  MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &side);
  MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 5, &between);
  MPI_Intercomm_merge(between, rank == 0, &merged);
  MPI_Barrier(merged);
  add(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&side);
}

int main(int n, char** words) {
  MPI_Init(&n, &words);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  make(2, (int[]){0, 1}, 0);
  make(2, (int[]){1, 2}, 0);
  make(2, (int[]){2, 1}, 0);
  make(2, (int[]){1, 2}, 0);
  make(2, (int[]){1, 2}, 7);
  make(3, (int[]){0, 1, 2}, 0);
  merge();
  MPI_Group_free(&all);
  MPI_Finalize();
  return 0;
}
