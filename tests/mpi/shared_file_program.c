// Ranks write neighbouring records of one file by MPI-IO, and read those of the others after a synchronization.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { record = 24, rounds = 40, times = 3 };

static void fill(char* at, int rank, int round, int time) {
  memset(at, 0, record);
  snprintf(at, record, "%07d %07d %06d", rank, round, time);
}

int main(int count, char** words) {
  int rank, ranks, wrong = 0;
  MPI_File file;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  for (int time = 0; time < times; ++time) {
    char mine[record], other[record], expected[record];
    for (int round = 0; round < rounds; ++round) {
      fill(mine, rank, round, time);
      MPI_File_write_at(file, (MPI_Offset)(round * ranks + rank) * record, mine, record, MPI_CHAR, MPI_STATUS_IGNORE);
    }
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    for (int at = 0; at < rounds * ranks; ++at) {
      MPI_File_read_at(file, (MPI_Offset)at * record, other, record, MPI_CHAR, MPI_STATUS_IGNORE);
      fill(expected, at % ranks, at / ranks, time);
      for (int k = 0; k < record; ++k) wrong += other[k] != expected[k];
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong bytes\n", wrong);
  return MPI_Finalize();
}
