// The ranks that call a collective together: all ranks, or those of each of several communicators, which all call it at
// the same time.
#pragma once
#include <mpi.h>

extern MPI_Comm group;              // of this rank; MPI_COMM_NULL: it calls nothing
extern int group_rank, group_size;  // the size is that of all groups

void join_whole_group(void);
// `text`: the ranks of each group, in the group's order, such as "0-3;6-4:-1" for two groups. All groups must have the
// same size. Returns NULL, or a static error text. All ranks call it with the same text.
const char* split(const char* text);
