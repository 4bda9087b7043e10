// Counts the calls of functions of an MPI's library that run one algorithm each: the proof that it ran.
#pragma once
#include <stdint.h>

extern const int counter_count;
const char* counter_name(int number);
int64_t counted(int number);
void reset_counters(void);
