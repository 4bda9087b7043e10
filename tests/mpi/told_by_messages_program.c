// Ranks write files of their own, and read the neighbour's after a message. Nothing but the message tells them.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { record = 24, times = 20 };

static int rank, ranks;

/// In one of three ways.
static void tell(int time) {
  int sum = 0, word = 1;
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request sent;
  if (time % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (time % 3 == 1) MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (time % 3 != 2) return;
  MPI_Isend(&word, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &sent);
  MPI_Recv(&sum, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

static int open_file(const char* name, int of, int flags) {
  char path[300];
  snprintf(path, sizeof path, "%s%d", name, of);
  return open(path, flags, 0644);
}

int main(int count, char** words) {
  int wrong = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int mine = open_file(words[1], rank, O_CREAT | O_WRONLY);
  MPI_Barrier(MPI_COMM_WORLD);
  const int before = (rank + ranks - 1) % ranks, other = open_file(words[1], before, O_RDONLY);
  for (int time = 0; time < times; ++time) {
    char own[record] = "", got[record] = "", expected[record] = "";
    snprintf(own, record, "%07d %07d", rank, time);
    snprintf(expected, record, "%07d %07d", before, time);
    if (write(mine, own, record) != record) ++wrong;
    tell(time);
    wrong += read(other, got, record) != record || memcmp(got, expected, record) != 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong records\n", wrong);
  return MPI_Finalize();
}
