// Communication between the ranks of the benchmark. It uses only messages, because the benchmark measures collectives.
#pragma once
#include <mpi.h>
#include <stdint.h>

extern MPI_Comm control;  // for these messages
extern int rank, size;

void join_ranks(void);
// Sends data from rank 0 to all ranks. A rank that waits uses no core.
void broadcast(void* data, int bytes);
void barrier(void);
// The smallest number of all ranks, at rank 0.
int64_t smallest(int64_t mine);
// The same for an array of `count` numbers.
void smallest_of(int64_t* mine, int count);
// The number of each rank, at rank 0.
void gather(int64_t mine, int64_t* of_rank);
// Whether `mine` is true on all ranks. All ranks get the same answer.
int on_all(int mine);

// Measures how far the clock of each rank is ahead of that of rank 0. All ranks call it.
void compare_clocks(void);
// Clocks of several machines drift apart. This compares them again, and corrects times since the comparison before,
// negative or not. All ranks call it.
void correct_clocks(int64_t* times, int count);
// The time on the clock of rank 0.
int64_t now_ns(void);
