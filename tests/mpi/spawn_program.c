// Programs that find each other: `spawn_program spawn` starts itself twice. They know their own traffic.
#include "known_traffic.h"

static void be_spawned(MPI_Comm parent) {
  int sum = 0;
  CALL(MPI_Bcast, "parent", sizeof sum, &sum, 1, MPI_INT, 0, parent);
  CALL(MPI_Comm_disconnect, "parent", 0, &parent);
}

static void spawn(char* program) {
  MPI_Comm made;
  char* programs[] = {program, program};
  char** words[] = {MPI_ARGV_NULL, MPI_ARGV_NULL};
  const int processes[] = {1, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int sum = 0;
  const int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  CALL(MPI_Comm_spawn, "world", 0, program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made,
       MPI_ERRCODES_IGNORE);
  CALL(MPI_Bcast, "world/spawn 1", rank == 0 ? sizeof sum : 0, &sum, 1, MPI_INT, root, made);
  CALL(MPI_Comm_disconnect, "world/spawn 1", 0, &made);
  CALL(MPI_Comm_spawn_multiple, "world", 0, 2, programs, words, processes, infos, 0, MPI_COMM_WORLD, &made,
       MPI_ERRCODES_IGNORE);
  CALL(MPI_Bcast, "world/spawn 2", rank == 0 ? sizeof sum : 0, &sum, 1, MPI_INT, root, made);
  CALL(MPI_Comm_disconnect, "world/spawn 2", 0, &made);
}

static void meet(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm made;
  if (rank == 0) CALL(MPI_Open_port, "", 0, MPI_INFO_NULL, port);
  CALL(MPI_Bcast, "world", sizeof port, port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    CALL(MPI_Comm_accept, "self", 0, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
    CALL(MPI_Comm_disconnect, "self/accept 1", 0, &made);
    CALL(MPI_Close_port, "", 0, port);
  } else if (rank == 1) {
    CALL(MPI_Comm_connect, "self", 0, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
    CALL(MPI_Comm_disconnect, "self/connect 1", 0, &made);
  }
}

int main(int count, char** words) {
  MPI_Comm parent;
  begin(&count, &words);
  for (int asked = 0; asked < 2; ++asked) CALL(MPI_Comm_get_parent, "", 0, &parent);
  if (parent != MPI_COMM_NULL) {
    be_spawned(parent);
    MPI_Finalize();
    return 0;
  }
  if (count > 1) spawn(words[0]);
  meet();
  end();
}
