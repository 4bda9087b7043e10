// The collectives that the benchmark calls, with data whose results it knows.
#pragma once
#include <mpi.h>
#include <stddef.h>

typedef struct operation operation;

// NULL: there is no such collective. The nonblocking ones begin with an i, such as ibcast; their pointer is valid until
// the next search.
const operation* find_operation(const char* name);
// Reserves memory for messages of this number of bytes. 0: there is not enough.
int make_room(size_t bytes);
// Room for one message, after make_room().
unsigned char* message(void);
void make_data(const operation* what, size_t bytes);
// An error code of MPI. `bytes`: of the vector; of one block where each rank gets another one.
int call(const operation* what, MPI_Comm comm, int bytes, int root);
// After make_data() and one call.
int result_is_right(const operation* what, size_t bytes, int root);
