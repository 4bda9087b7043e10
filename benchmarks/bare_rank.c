/* A rank that initialises MPI and then sleeps until it is killed: what an idle process costs under this MPI without
 * culmen. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (;;) pause();
}
