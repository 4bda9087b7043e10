// Wrong calls, whose errors the program handles: it prints the class of each. At the end, one rank uses an
// ended communicator.
#include <mpi.h>
#include <stdio.h>

static MPI_Comm comm;
static int rank, mine[8], others[8];

static void say(const char* what, int error) {
  int class = MPI_SUCCESS;
  if (error != MPI_SUCCESS) MPI_Error_class(error, &class);
  if (rank == 0) printf("%s: %d\n", what, class);
}

static void end(const char* what, int error, MPI_Request* request) {
  if (error == MPI_SUCCESS) error = MPI_Wait(request, MPI_STATUS_IGNORE);
  say(what, error);
}

#if defined(MPICH_NUMVERSION)  // Open MPI may read the memory of an ended communicator
static int told;

static void count(MPI_Comm* where, int* code, ...) {
  (void)where, (void)code;
  ++told;
}

/// MPICH may give the handle of an ended communicator to the next one.
static void use_an_ended_one(void) {
  enum { calls = 60 };
  MPI_Errhandler counts;
  MPI_Comm made, ended;
  int wrong = 0, sum = 0, ranks = 0;
  MPI_Comm_create_errhandler(count, &counts);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, counts);
  MPI_Errhandler_free(&counts);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_size(made, &ranks);
  ended = made;
  MPI_Comm_free(&made);
  if (rank == 0) say("barrier on an ended communicator", MPI_Barrier(ended));
  if (rank == 0) printf("handlers called: %d\n", told);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  for (int k = 0; k < calls; ++k) {
    const int own = rank + k;
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, made);
    wrong += sum != ranks * k + ranks * (ranks - 1) / 2;
  }
  if (rank == 0) printf("wrong sums: %d\n", wrong);
  MPI_Comm_free(&made);
}
#else
static void use_an_ended_one(void) {}
#endif

int main(int argc, char** argv) {
  MPI_Request request = MPI_REQUEST_NULL;
  int counts[2] = {1, 1};
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int round = 0; round < 3; ++round) {
    say("allreduce without an operator", MPI_Allreduce(mine, others, 1, MPI_INT, MPI_OP_NULL, comm));
    say("reduce without an operator", MPI_Reduce(mine, others, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    say("scan without an operator", MPI_Scan(mine, others, 1, MPI_INT, MPI_OP_NULL, comm));
    say("reduce_scatter without an operator", MPI_Reduce_scatter(mine, others, counts, MPI_INT, MPI_OP_NULL, comm));
    say("bcast without a type", MPI_Bcast(mine, 1, MPI_DATATYPE_NULL, 0, comm));
#if !defined(MPICH_NUMVERSION) || MPICH_NUMVERSION < 50000000  // MPICH 5 has a failed assertion there
    say("allreduce without a type", MPI_Allreduce(mine, others, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
#endif
    say("allgather without a type", MPI_Allgather(mine, 1, MPI_DATATYPE_NULL, others, 1, MPI_DATATYPE_NULL, comm));
    say("send without a type", MPI_Send(mine, 1, MPI_DATATYPE_NULL, 0, 0, comm));
    say("bcast of less than nothing", MPI_Bcast(mine, -1, MPI_INT, 0, comm));
    say("bcast from nowhere", MPI_Bcast(mine, 1, MPI_INT, 9, comm));
    end("iallreduce without an operator", MPI_Iallreduce(mine, others, 1, MPI_INT, MPI_OP_NULL, comm, &request),
        &request);
    end("ibcast without a type", MPI_Ibcast(mine, 1, MPI_DATATYPE_NULL, 0, comm, &request), &request);
    say("a right one", MPI_Allreduce(mine, others, 1, MPI_INT, MPI_SUM, comm));
  }
  use_an_ended_one();
  MPI_Finalize();
  return 0;
}
