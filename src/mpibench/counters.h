// Counts the calls of functions in an MPI's library. Each of them runs one algorithm, so its count proves that the
// algorithm ran.
#pragma once
#include <stdint.h>

extern const int counter_count;
extern int64_t* counts;  // one number for each function
const char* counter_name(int number);
int64_t counted(int number);
void reset_counters(void);
