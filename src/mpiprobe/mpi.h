// The MPI of the process, as seen by a library that is preloaded into MPI programs.
#pragma once
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/// The functions that an mpi.h declares. Open MPI 5 has those of MPI 4, but not their variants with large counts.
#define PROBE_MPI_LARGE (MPI_VERSION >= 4)
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define PROBE_MPI_4 1
#else
#define PROBE_MPI_4 (MPI_VERSION >= 4)
#endif
#define PROBE_MPI_4_1 (MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1))
#if MPI_VERSION >= 5
typedef const int probe_partition;
#else
typedef int probe_partition;
#endif

#define PROBE_PUBLIC __attribute__((visibility("default")))

/// The start of the definition of an MPI function, with its name and its arguments. The program calls a short entry,
/// which jumps to the definition. If the program uses an MPI that this library was not built for, all entries jump to
/// the functions of this MPI instead. They then leave the arguments alone, whose types are not those of this library.
#define PROBE_MPI(name, ...) PROBE_MPI_OF(name, name, __VA_ARGS__)
/// The same with a definition that has another name in C, so that its arguments may have other types.
#define PROBE_MPI_OF(name, definition, ...)                \
  int definition(__VA_ARGS__) __asm__("probe_own_" #name); \
  __asm__(".hidden probe_own_" #name);                     \
  PROBE_ENTRY(name, name)                                  \
  int definition(__VA_ARGS__)
/// A second name of a function that PROBE_MPI defines.
#define PROBE_MPI_ALIAS(alias, name) PROBE_ENTRY(alias, name)

#if defined(__x86_64__)
#define PROBE_JUMP(label) "jmp *" label "(%rip)\n"
#elif defined(__aarch64__)
#define PROBE_JUMP(label) "adrp x16, " label "\nldr x16, [x16, :lo12:" label "]\nbr x16\n"
#endif
#if defined(PROBE_JUMP)
#define PROBE_ENTRY(name, target)                                                                               \
  __asm__(".pushsection .rodata\n.Lname_" #name ": .asciz \"" #name                                             \
          "\"\n.popsection\n"                                                                                   \
          ".pushsection probe_entries,\"aw\",%progbits\n.balign 8\n.Lentry_" #name ": .quad probe_own_" #target \
          ", .Lname_" #name                                                                                     \
          "\n.popsection\n"                                                                                     \
          ".pushsection .text\n.balign 16\n.globl " #name "\n.type " #name ", %function\n" #name                \
          ":\n" PROBE_JUMP(".Lentry_" #name) ".size " #name ", .-" #name "\n.popsection\n");
#else  // on other processors, the entry is the definition itself, and calls cannot go elsewhere
#define PROBE_ENTRY(name, target) __asm__(".globl " #name "\n.set " #name ", probe_own_" #target "\n");
#endif

static inline uint64_t probe_nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/// MPI's own function. It is looked up at the first call, because the program may load MPI late.
void* probe_find(const char* name);
#define REAL(name) ((__typeof(&name))probe_find(#name))

/// Before MPI_Init: whether the program uses an MPI that this library was not built for. From then on, the program
/// calls the functions of its MPI directly, a sentence on stderr says so, and an empty file in the profile's folder.
int probe_is_other_mpi(void);
/// Leaves an empty file with this end of its name, which fits on a full disk.
void probe_leave_mark(const char* folder, const char* end);

/// An object of Open MPI by its symbol. The program may have a copy, which MPI then uses instead of its own.
void* probe_object(const char* symbol);
#if defined(OPEN_MPI)
#define PROBE_OBJECT(symbol, otherwise) probe_object(symbol)
#else
#define PROBE_OBJECT(symbol, otherwise) (otherwise)
#endif
/// Whether a call of PMPI_… from this address counts. It counts if the program itself calls, or a Fortran binding,
/// which calls PMPI for the program. Calls by the MPI itself and by other profilers do not count.
int probe_counts(const void* caller);

/// A lock for rare events, such as a new communicator.
void probe_lock(void);
void probe_unlock(void);

static inline uint64_t probe_mixed(uint64_t x) {
  x *= UINT64_C(0x9e3779b97f4a7c15);
  return x ^ (x >> 29);
}
#define PROBE_HANDLE(handle) ((uint64_t)(uintptr_t)(handle) + 1)

/// Bytes of one element; 0 if it is no datatype.
uint64_t probe_size_of(MPI_Datatype datatype);

enum { probe_members_bytes = 64 };
/// Writes the ranks that the members of a group have in another group, for example "0-3,8". The text is cut after many
/// ranks, but remains different for each group.
void probe_write_members(char text[probe_members_bytes], MPI_Group group, MPI_Group within);
/// The same with ranks of a communicator.
void probe_write_members_of(char text[probe_members_bytes], MPI_Group group, MPI_Comm comm);
