// The times of calls, over all ranks.
#pragma once
#include <mpi.h>
#include <stdint.h>

#include "operations.h"

enum { most_calls = 100000 };

extern int64_t* times;  // room for most_calls times in ns
void make_room_for_times(void);
// Makes calls, and keeps when each began and ended on this rank. All ranks call it; those outside of all groups call no
// collective. Returns an error code of MPI.
int timed_calls(const operation* what, MPI_Comm comm, int bytes, int root, int calls, int64_t window_ns);
// Finds the times of these calls at rank 0, from the first start to the last end over all ranks. They are negative if a
// rank was late. All ranks call it.
void collect_times(int calls);
