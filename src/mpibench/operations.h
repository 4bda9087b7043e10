// The collectives that the benchmark calls, with data whose results it knows.
#pragma once
#include <mpi.h>
#include <stddef.h>

typedef struct operation operation;

// NULL if there is no such collective. The names of nonblocking ones begin with an i, such as ibcast. Their pointer is
// valid until the next search.
const operation* find_operation(const char* name);
// The number of blocks in the larger buffer of a rank.
int blocks_of(const operation* what);
// Reserves two buffers of at least this number of bytes. Returns 0 if there is not enough memory.
int make_room(size_t bytes);
// Room for one message, after make_room().
unsigned char* message(void);
void make_data(const operation* what, size_t bytes);
// Returns an error code of MPI. `bytes`: size of the vector, or of one block if each rank gets another block.
int call(const operation* what, MPI_Comm comm, int bytes, int root);
// Whether the result is right, after make_data() and one call.
int result_is_right(const operation* what, size_t bytes, int root);
// Keeps a result, with which later ones are compared. Returns 0 if there is not enough memory.
int keep_result(const operation* what, size_t bytes);
// Overwrites the result, so that a call that writes nothing is noticed.
void drop_result(const operation* what, size_t bytes);
// Whether the result is the same as the kept one.
int result_is_kept(const operation* what, size_t bytes, int root);
