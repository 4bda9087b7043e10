// Calls that a profile must survive. `groups`: MPI_Reduce_scatter between two groups of unlike sizes, with its counts
// at the end of a page. `jump`: an error handler leaves a call by longjmp. `abort`: the last rank ends the program
// after half of its calls. `long`: many calls, and rank 0 is late. `sleep`: it waits for a signal.
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int* at_the_end_of_a_page(int count) {
  const long page = sysconf(_SC_PAGESIZE);
  char* two = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(two + page, (size_t)page);
  return (int*)(two + page) - count;
}

static void reduce_between_groups(int rank, int size) {
  MPI_Comm half, inter;
  const int alone = rank == 0, own = alone ? 1 : size - 1, other = size - own;
  MPI_Comm_split(MPI_COMM_WORLD, alone, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, alone ? 1 : 0, 0, &inter);
  const int all = own * other;  // the same sum in both groups
  int* counts = at_the_end_of_a_page(own);
  for (int i = 0; i < own; ++i) counts[i] = other;
  int* sent = calloc((size_t)all, sizeof(int));
  int* received = calloc((size_t)all, sizeof(int));
  MPI_Reduce_scatter(sent, received, counts, MPI_INT, MPI_SUM, inter);
  MPI_Reduce_scatter_block(sent, received, other, MPI_INT, MPI_SUM, inter);
  free(sent);
  free(received);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static jmp_buf back;

static void jump(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
  longjmp(back, 1);
}

static void fail_and_jump(int size) {
  MPI_Errhandler handler;
  int value = 0;
  MPI_Comm_create_errhandler(jump, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (setjmp(back) == 0) MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* word = argc > 1 ? argv[1] : "";
  if (strcmp(word, "groups") == 0) reduce_between_groups(rank, size);
  if (strcmp(word, "jump") == 0) fail_and_jump(size);
  double value = rank, sum = 0;
  const int calls = strcmp(word, "long") == 0 ? 20000 : 1000;
  for (int i = 0; i < calls; ++i) {
    // After the first call, so that the other rank waits in MPI for all of this time, however late it began.
    if (i == 1 && calls > 1000 && rank == 0) usleep(300000);
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (i == 500 && rank == size - 1 && strcmp(word, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  if (strcmp(word, "sleep") == 0) sleep(600);
  MPI_Finalize();
  return 0;
}
