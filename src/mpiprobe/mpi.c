// The MPI of this process: its functions, its objects, and its Fortran bindings.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mpiprobe/mpi.h"

/// Finds the library of the MPI, whoever loaded it.
static int find_mpi(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(info->dlpi_name, '/');
  if (name == NULL || (strncmp(name, "/libmpi.so", 10) != 0 && strncmp(name, "/libmpich.so", 12) != 0)) return 0;
  *(void**)found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return *(void**)found != NULL;
}

static void* mpi_library(void) {
  static void* library;
  if (library == NULL) dl_iterate_phdr(find_mpi, &library);
  return library;
}

void* probe_find(const char* name) {
  char profiled[64];
  snprintf(profiled, sizeof profiled, "P%s", name);
  void* const library = mpi_library();
  void* function = library != NULL ? dlsym(library, profiled) : NULL;
  if (function == NULL) function = dlsym(RTLD_NEXT, profiled);
  return function != NULL ? function : dlsym(RTLD_NEXT, name);
}

/// Whether this is the library of the standard ABI. Its handles are neither those of Open MPI nor those of MPICH.
static int is_standard_abi(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  (void)found;
  const char* name = strrchr(info->dlpi_name, '/');
  return name != NULL && strncmp(name, "/libmpi_abi.so", 14) == 0;
}

void probe_check_mpi(void) {
#if defined(OPEN_MPI)
  const char *const own = "Open MPI", *const other = "MPICH";
  const int fits = probe_object("ompi_mpi_comm_world") != NULL;
#else
  const char *const own = "MPICH", *const other = "Open MPI";
  const int fits = probe_object("ompi_mpi_comm_world") == NULL;
#endif
  const int standard = dl_iterate_phdr(is_standard_abi, NULL);
  if (fits && !standard) return;
  fprintf(
      stderr,
      "culmen: this program has loaded %s, but the mpiexec is that of %s; culmen cannot watch it. Use the mpiexec of "
      "the program's MPI\n",
      standard ? "the standard ABI of MPI (libmpi_abi)" : other, own);
  fflush(NULL);
  _exit(2);
}

void* probe_object(const char* symbol) {
  void* const copy = dlsym(RTLD_DEFAULT, symbol);
  if (copy != NULL) return copy;
  void* const library = mpi_library();
  return library != NULL ? dlsym(library, symbol) : NULL;
}

uint64_t probe_size_of(MPI_Datatype datatype) {
  static void* real;
  static MPI_Datatype none;
  void* found = __atomic_load_n(&real, __ATOMIC_ACQUIRE);
  if (found == NULL) {
    none = PROBE_OBJECT("ompi_mpi_datatype_null", MPI_DATATYPE_NULL);
    found = probe_find("MPI_Type_size_x");  // MPI_Type_size does not know types of more than 2 GiB
    __atomic_store_n(&real, found, __ATOMIC_RELEASE);
  }
  if (datatype == none) return 0;  // an error here would end the program, which may handle its own errors
  MPI_Count size = 0;
  const int error = ((int (*)(MPI_Datatype, MPI_Count*))found)(datatype, &size);
  return error == MPI_SUCCESS && size > 0 ? (uint64_t)size : 0;
}

static int locked;

void probe_lock(void) {
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE)) {
  }
}
void probe_unlock(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

/// A loaded object, and whether its calls of PMPI are the program's.
struct object {
  uintptr_t begin, end;
  int counts;
};
enum { most_objects = 16 };
static struct object objects[most_objects];
static unsigned known_objects;

static int is_fortran_binding(const char* path) {
  static const char* const words[] = {"libmpi_mpifh", "libmpi_usempi", "libmpichfort", "libmpifort"};
  for (unsigned k = 0; k < sizeof words / sizeof *words; ++k) {
    if (strstr(path, words[k]) != NULL) return 1;
  }
  return 0;
}

static int find_object(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  struct object* const object = found;
  for (unsigned k = 0; k < info->dlpi_phnum; ++k) {
    const ElfW(Phdr)* const part = &info->dlpi_phdr[k];
    const uintptr_t begin = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD || object->begin < begin || object->begin >= begin + part->p_memsz) continue;
    *object = (struct object){begin, begin + part->p_memsz,
                              info->dlpi_name[0] == '\0' || is_fortran_binding(info->dlpi_name)};
    return 1;
  }
  return 0;
}

int probe_counts(const void* caller) {
  const uintptr_t at = (uintptr_t)caller;
  const unsigned known = __atomic_load_n(&known_objects, __ATOMIC_ACQUIRE);
  for (unsigned k = 0; k < known; ++k) {
    if (objects[k].begin <= at && at < objects[k].end) return objects[k].counts;
  }
  struct object object = {at, at, 0};
  if (!dl_iterate_phdr(find_object, &object)) return 0;
  probe_lock();
  if (known_objects < most_objects) {
    objects[known_objects] = object;
    __atomic_store_n(&known_objects, known_objects + 1, __ATOMIC_RELEASE);
  }
  probe_unlock();
  return object.counts;
}
