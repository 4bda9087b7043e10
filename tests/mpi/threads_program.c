// Threads that call collectives at the same time, each on a communicator of its own, and make communicators:
// threads_program [ROUNDS]. Prints "N wrong" at rank 0.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { threads = 3, most = 2000 };
static int rounds, wrong;

struct part {
  MPI_Comm comm;
  int number, data[most], sums[most];
};

static void expect(int is_right) {
  if (!is_right) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void once(struct part* part, MPI_Comm comm, int count) {
  int rank, size, right = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int k = 0; k < count; ++k) part->data[k] = rank + k + part->number;
  MPI_Allreduce(part->data, part->sums, count, MPI_INT, MPI_SUM, comm);
  for (int k = 0; k < count; ++k) right &= part->sums[k] == size * (size - 1) / 2 + size * (k + part->number);
  MPI_Bcast(part->data, count, MPI_INT, size - 1, comm);
  for (int k = 0; k < count; ++k) right &= part->data[k] == size - 1 + k + part->number;
  MPI_Request request;
  MPI_Iallreduce(part->data, part->sums, count, MPI_INT, MPI_MAX, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int k = 0; k < count; ++k) right &= part->sums[k] == part->data[k];
  MPI_Barrier(comm);
  expect(right);
}

static void* work(void* given) {
  struct part* const part = given;
  int rank;
  MPI_Comm_rank(part->comm, &rank);
  for (int k = 0; k < rounds; ++k) {
    once(part, part->comm, k % 2 == 0 ? 10 : most);
    if (k % (5 + part->number) != 0) continue;
    MPI_Comm half;
    MPI_Comm_split(part->comm, rank % 2, rank, &half);
    for (int more = 0; more < 20; ++more) once(part, half, 10);
    MPI_Comm_free(&half);
  }
  return NULL;
}

int main(int argc, char** argv) {
  static struct part parts[threads];
  pthread_t others[threads];
  int level, rank, total = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
  rounds = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < threads; ++k) {
    parts[k].number = k;
    MPI_Comm_dup(MPI_COMM_WORLD, &parts[k].comm);
  }
  for (int k = 0; k < threads; ++k) pthread_create(&others[k], NULL, work, &parts[k]);
  for (int k = 0; k < threads; ++k) pthread_join(others[k], NULL);
  for (int k = 0; k < threads; ++k) MPI_Comm_free(&parts[k].comm);
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", total);
  MPI_Finalize();
  return 0;
}
