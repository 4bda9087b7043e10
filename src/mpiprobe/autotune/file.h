// The parts of the tuning file that its writer and its reader share.
#pragma once
#include "mpiprobe/autotune/tune.h"

#define TUNE_FIRST_LINE "culmen-tuning\t1"

extern char tune_version[160];    // of the MPI
extern char tune_processor[256];  // of rank 0
extern int tune_nodes;

/// The smallest size of a class.
static inline uint64_t tune_least_of(unsigned class) { return class == 0 ? 0 : UINT64_C(1) << (class - 1); }
