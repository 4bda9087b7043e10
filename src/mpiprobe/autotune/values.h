// The variables of the MPI by their names.
#pragma once
#include "mpiprobe/mpi.h"

struct tune_value {
  int known;
  MPI_T_cvar_handle handle;
  int index;  // in Open MPI's own list
};

/// level: the thread level of MPI. Returns false if the MPI gives no access to its variables.
int tune_begin_values(int level);
/// `known` is 0 if there is no such variable, or if it has several values.
struct tune_value tune_find_value(const char* name);
/// Read and write integers. They return false if this fails.
int tune_read(const struct tune_value* variable, int* value);
int tune_write(const struct tune_value* variable, int value);
/// Whether a variable of this name has a text, which is not empty.
int tune_has_text(const char* name);
