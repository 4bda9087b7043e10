// A program that begins MPI by sessions, and knows its traffic: sessions_program WAY.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Session begin(const char* level) {
  MPI_Session session;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", level);
  if (MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session) != MPI_SUCCESS) exit(3);
  MPI_Info_free(&info);
  return session;
}

static MPI_Comm communicator(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm made;
  MPI_Group_from_session_pset(session, set, &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&group);
  return made;
}

/// 3 reductions of 40 bytes, and 2 halves that each have 1 broadcast of 8 bytes.
static void work(MPI_Comm comm) {
  int data[10] = {0}, sums[10], rank;
  MPI_Comm half;
  MPI_Comm_rank(comm, &rank);
  for (int k = 0; k < 3; ++k) MPI_Allreduce(data, sums, 10, MPI_INT, MPI_SUM, comm);
  MPI_Comm_split(comm, rank % 2, rank, &half);
  MPI_Bcast(data, 2, MPI_INT, 0, half);
  MPI_Comm_free(&half);
}

static void run_session(const char* tag) {
  MPI_Session session = begin("MPI_THREAD_SINGLE");
  MPI_Comm comm = communicator(session, "mpi://WORLD", tag);
  work(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

/// Groups of two ranks, all with one tag: rank 1 is in two of them, and each of the two ranks of the last one in
/// another.
static void run_groups(void) {
  MPI_Session session = begin("MPI_THREAD_SINGLE");
  MPI_Group all, group;
  MPI_Comm made;
  const int pairs[3][2] = {{0, 1}, {1, 2}, {0, 1}};
  int rank;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &rank);
  for (int k = 0; k < 3; ++k) {
    if (rank != pairs[k][0] && rank != pairs[k][1]) continue;
    MPI_Group_incl(all, 2, pairs[k], &group);
    MPI_Comm_create_from_group(group, "pair", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
    MPI_Group_free(&group);
  }
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}

/// Two libraries with a session each; the first one ends later.
static void run_nested(void) {
  MPI_Session first = begin("MPI_THREAD_SINGLE"), second = begin("MPI_THREAD_MULTIPLE");
  MPI_Comm one = communicator(first, "mpi://WORLD", "first"), two = communicator(second, "mpi://WORLD", "second");
  MPI_Comm self = communicator(second, "mpi://SELF", "alone");
  work(two);
  MPI_Barrier(self);
  MPI_Comm_free(&self);
  MPI_Comm_free(&two);
  MPI_Session_finalize(&second);
  work(one);
  MPI_Comm_free(&one);
  MPI_Session_finalize(&first);
}

int main(int n, char** words) {
  const char* const way = n > 1 ? words[1] : "one";
  if (strcmp(way, "one") == 0) {
    run_session("solver");
  } else if (strcmp(way, "again") == 0) {
    for (int k = 0; k < 3; ++k) run_session("solver");
  } else if (strcmp(way, "groups") == 0) {
    run_groups();
  } else if (strcmp(way, "nested") == 0) {
    run_nested();
  } else if (strcmp(way, "both") == 0) {  // a library with a session within a program with MPI_Init
    MPI_Init(&n, &words);
    MPI_Barrier(MPI_COMM_WORLD);
    run_session("library");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  } else if (strcmp(way, "before") == 0) {
    run_session("library");
    MPI_Init(&n, &words);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  } else if (strcmp(way, "open") == 0) {  // it ends without MPI_Session_finalize
    MPI_Session session = begin("MPI_THREAD_SINGLE");
    work(communicator(session, "mpi://WORLD", "solver"));
    fflush(NULL);
  } else if (strcmp(way, "killed") == 0) {  // a second session does not end
    run_session("solver");
    MPI_Session session = begin("MPI_THREAD_SINGLE");
    work(communicator(session, "mpi://WORLD", "solver"));
    abort();
  }
  puts("done");
  return 0;
}
