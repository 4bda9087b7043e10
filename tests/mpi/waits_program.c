// Starts requests and waits for them in every way. Each way has messages of its own size.
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { each = 6, rounds = 500, many = 40000 };
static int rank, size;
static char there[1 << 12], back[1 << 12];

static void start(int bytes, MPI_Request* requests, MPI_Comm comm) {
  for (int k = 0; k < each; k += 2) {
    MPI_Irecv(back, bytes, MPI_CHAR, (rank + size - 1) % size, bytes, comm, &requests[k]);
    MPI_Isend(there, bytes, MPI_CHAR, (rank + 1) % size, bytes, comm, &requests[k + 1]);
  }
}

static void wait_in_every_way(void) {
  MPI_Request requests[each];
  int done = 0, flag = 0, index = 0, indices[each];
  start(1, requests, MPI_COMM_WORLD);
  for (int k = 0; k < each; ++k) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
  start(2, requests, MPI_COMM_WORLD);
  MPI_Waitall(each, requests, MPI_STATUSES_IGNORE);
  start(4, requests, MPI_COMM_WORLD);
  for (int k = 0; k < each; ++k) MPI_Waitany(each, requests, &index, MPI_STATUS_IGNORE);
  start(8, requests, MPI_COMM_WORLD);
  for (int all = 0; all < each; all += done) MPI_Waitsome(each, requests, &done, indices, MPI_STATUSES_IGNORE);
  start(16, requests, MPI_COMM_WORLD);
  for (int k = 0; k < each; ++k) {
    for (flag = 0; !flag;) MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE);
  }
  start(32, requests, MPI_COMM_WORLD);
  for (flag = 0; !flag;) MPI_Testall(each, requests, &flag, MPI_STATUSES_IGNORE);
  start(64, requests, MPI_COMM_WORLD);
  for (int all = 0; all < each; all += flag) MPI_Testany(each, requests, &index, &flag, MPI_STATUS_IGNORE);
  start(128, requests, MPI_COMM_WORLD);
  for (int all = 0; all < each; all += done) MPI_Testsome(each, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void collect(MPI_Comm comm) {
  MPI_Request requests[3];
  MPI_Ibcast(there, 8, MPI_CHAR, 0, comm, &requests[0]);
  MPI_Iallreduce(there, back, 4, MPI_CHAR, MPI_MAX, comm, &requests[1]);
  MPI_Ibarrier(comm, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

/// Requests that no wait ends, and one that never gets a message.
static void drop(void) {
  MPI_Request request;
  for (int k = 0; k < each; ++k) {
    MPI_Issend(there, 256, MPI_CHAR, (rank + 1) % size, 256, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    MPI_Recv(back, 256, MPI_CHAR, (rank + size - 1) % size, 256, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Irecv(back, 512, MPI_CHAR, rank, 512, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);  // there is none any more
}

static void* repeat(void* comm) {
  MPI_Request requests[each];
  for (int k = 0; k < rounds; ++k) {
    start(1024, requests, *(MPI_Comm*)comm);
    MPI_Waitall(each, requests, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

static void repeat_in_threads(void) {
  MPI_Comm comms[2];
  pthread_t threads[2];
  for (int k = 0; k < 2; ++k) MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
  for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, repeat, &comms[k]);
  for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
  for (int k = 0; k < 2; ++k) MPI_Comm_free(&comms[k]);
}

static void start_very_many(void) {
  MPI_Request* requests = malloc(many * sizeof *requests);
  for (int k = 0; k < many; ++k) MPI_Irecv(back, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &requests[k]);
  for (int k = 0; k < many; ++k) MPI_Send(there, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF);
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

int main(int n, char** words) {
  const char* way = n > 1 ? words[1] : "";
  int level;
  MPI_Init_thread(&n, &words, strcmp(way, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(way, "threads") == 0) {
    repeat_in_threads();
  } else if (strcmp(way, "many") == 0) {
    start_very_many();
  } else {
    wait_in_every_way();
    collect(MPI_COMM_WORLD);
    drop();
  }
  MPI_Finalize();
  return 0;
}
