// MPI: ranks on one machine tell each other through shared memory that they have written. And after MPI_File_sync, each
// rank reads what the others have written; some versions call fsync only on ranks that have written.
//
// An argument is a pointer or an int, and so is a handle. Each is passed on as it came, in a register or a word of the
// stack.
#define _GNU_SOURCE
#include "iobuf/iobuf.h"

typedef intptr_t word;

/// Modules of Python are loaded with libraries that no other one sees: those of the caller count then.
static void* function_for(const void* caller, const char* name, const char* profiled) {
  Dl_info found;
  void* at = dlsym(RTLD_NEXT, name);
  if (at == NULL) at = dlsym(RTLD_NEXT, profiled);
  if (at != NULL || dladdr(caller, &found) == 0 || found.dli_fname == NULL) return at;
  void* const library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  at = dlsym(library, name);
  dlclose(library);
  return at;
}

enum { error_other = 16 };  // there is no MPI

enum { tells = 1, hears = 2, both = 3 };
#define WRAP(when, name, profiled, parameters, ...)                                         \
  int name parameters;                                                                      \
  IOBUF_PUBLIC int name parameters {                                                        \
    static void* _Atomic real;                                                              \
    if ((when & tells) != 0) iobuf_publish();                                               \
    if (real == NULL) real = function_for(__builtin_return_address(0), #name, profiled);    \
    const int result = real == NULL ? error_other : ((int(*) parameters)real)(__VA_ARGS__); \
    if ((when & hears) != 0) iobuf_heard();                                                 \
    return result;                                                                          \
  }
#define A1 a
#define A2 A1, b
#define A3 A2, c
#define A4 A3, d
#define A5 A4, e
#define A6 A5, f
#define A7 A6, g
#define A8 A7, h
#define A9 A8, i
#define A10 A9, j
#define A11 A10, k
#define A12 A11, l
#define A13 A12, m
#define A14 A13, n
#define P1 word a
#define P2 P1, word b
#define P3 P2, word c
#define P4 P3, word d
#define P5 P4, word e
#define P6 P5, word f
#define P7 P6, word g
#define P8 P7, word h
#define P9 P8, word i
#define P10 P9, word j
#define P11 P10, word k
#define P12 P11, word l
#define P13 P12, word m
#define P14 P13, word n
#define AFTER_1 2
#define AFTER_2 3
#define AFTER_3 4
#define AFTER_4 5
#define AFTER_5 6
#define AFTER_6 7
#define AFTER_7 8
#define AFTER_8 9
#define AFTER_9 10
#define AFTER_10 11
#define AFTER_11 12
#define AFTER_12 13
#define AFTER_13 14
#define JOINED(a, b) a##b
#define LIST(kind, n) JOINED(kind, n)
#define IN_C(when, name, n) WRAP(when, MPI_##name, "PMPI_" #name, (LIST(P, n)), LIST(A, n))
/// Fortran has one argument more: the error. The third name is that of MPICH for the module mpi_f08.
#define IN_FORTRAN(when, name, n)                                                \
  WRAP(when, mpi_##name##_, "pmpi_" #name "_", (LIST(P, n)), LIST(A, n))         \
  WRAP(when, mpi_##name##_f08_, "pmpi_" #name "_f08_", (LIST(P, n)), LIST(A, n)) \
  WRAP(when, mpi_##name##_f08ts_, "pmpi_" #name "_f08ts_", (LIST(P, n)), LIST(A, n))
/// The second name takes large counts.
#define CALL(when, name, small, n) \
  IN_C(when, name, n)              \
  IN_C(when, name##_c, n)          \
  IN_FORTRAN(when, small, AFTER_##n)
#include "iobuf/mpi_calls.h"

int MPI_Finalize(void);
IOBUF_PUBLIC int MPI_Finalize(void) {
  iobuf_publish();
  int (*const real)(void) = (int (*)(void))function_for(__builtin_return_address(0), "MPI_Finalize", "PMPI_Finalize");
  return real != NULL ? real() : error_other;
}
int MPI_Abort(word communicator, int code);
IOBUF_PUBLIC int MPI_Abort(word communicator, int code) {
  iobuf_publish();
  int (*const real)(word, int) =
      (int (*)(word, int))function_for(__builtin_return_address(0), "MPI_Abort", "PMPI_Abort");
  return real != NULL ? real(communicator, code) : error_other;
}
