// The names of communicators, windows and files. All of these functions need the lock.
#pragma once
#include "mpiprobe/record.h"

/// The number of the one with this name; -1 if there is none.
int probe_named(const char* origin);
/// "world/split 2 colour 1".
void probe_name_child(char* origin, unsigned parent, const char* how, const char* suffix);
/// For one that was made by an unknown function.
void probe_name_stranger(char* origin);
/// "world/create_group 1 ranks 0-2": a rank makes only those of its own groups, so each group has numbers of its own.
void probe_name_group(char* origin, unsigned parent, MPI_Comm comm, MPI_Group group, int tag);
/// "from_group solver", "from_group solver 2": all ranks of the communicator have given the same tag. remote: null for
/// one group.
void probe_name_of_group(char* origin, const char* how, const char* tag, MPI_Group group, const MPI_Group* remote);
/// "inter 1 ranks 0,2|1,3": the groups of both sides, because each side has a name of its own for its communicator.
void probe_name_between(char* origin, unsigned parent, MPI_Comm made);
/// The rank 0 of a communicator, as a rank of MPI_COMM_WORLD; -1 if it is not known.
int probe_first_of(MPI_Comm communicator);
/// "world/file data.bin". A name that is too long loses its beginning.
void probe_name_file(char* origin, unsigned parent, const char* name);
