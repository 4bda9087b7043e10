/* The interface of one MPI to culmen. module.c is compiled once per MPI into libculmen_mpi_<name>.so, which is loaded
at run
 * time; culmen itself links no MPI. */
#ifndef CULMEN_TRANSPORT_MPI_MODULE_H
#define CULMEN_TRANSPORT_MPI_MODULE_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define CULMEN_MPI_MODULE_ABI 4

/* A message on its way. */
typedef uintptr_t culmen_mpi_request;

/* All functions return 0, or an MPI error code whose text `error_text` gives. Collective ones say so. One thread. */
struct culmen_mpi_module {
  int abi;
  const char* name;                                     /* "openmpi" or "mpich" */
  int (*init)(void);                                    /* collective; MPI_Init_thread(SERIALIZED) only if nobody did */
  int (*rank)(int* rank, int* size);                    /* on our own duplicate of the world */
  int (*broadcast)(void* bytes, size_t n);              /* collective, from rank 0 */
  int (*gather)(const void* mine, size_t n, void* all); /* collective, to rank 0: n bytes of each rank in order */
  int (*barrier)(void);                                 /* collective */
  int (*open_line)(void); /* collective: another duplicate of the world, for the following; once */
  int (*post_send)(const void* bytes, size_t n, int to, int tag, culmen_mpi_request* request);
  int (*post_receive)(void* bytes, size_t n, int tag, culmen_mpi_request* request); /* from any rank */
  /* If it is done: from which rank and how many bytes, which count only after a receive. Then the request is gone. */
  int (*test)(culmen_mpi_request* request, int* done, int* from, size_t* n);
  int (*cancel)(culmen_mpi_request* request); /* of a receive */
  /* Whether this thread may use the line: MPI was initialised in it, or with MPI_THREAD_SERIALIZED. */
  int (*may_use_line)(int* may);
  /* Collective in all ranks: ranks with the same number get a communicator of their own; below 0: none. As MPI_Fint. */
  int (*form_team)(int number, int* communicator);
  int (*renew_team)(int* communicator); /* collective in the team: another one, without messages of the former */
  int (*leave_team)(void);              /* collective in the team */
  int (*finalize)(void); /* collective; frees our communicators; MPI_Finalize only if init() initialised */
  int (*library_version)(char* text, size_t n);
  void (*error_text)(int code, char* text, size_t n);
};

typedef const struct culmen_mpi_module* (*culmen_mpi_module_fn)(void);
#define CULMEN_MPI_MODULE_SYMBOL "culmen_mpi_module_get"

#ifdef __cplusplus
}
#endif
#endif
