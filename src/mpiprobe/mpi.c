// The MPI of this process: its functions, its objects, and its Fortran bindings.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpiprobe/layout.h"
#include "mpiprobe/mpi.h"

/// Finds the library of the MPI, whoever loaded it.
static int find_mpi(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(info->dlpi_name, '/');
  if (name == NULL || (strncmp(name, "/libmpi.so", 10) != 0 && strncmp(name, "/libmpich.so", 12) != 0 &&
                       strncmp(name, "/libmpi_abi.so", 14) != 0))
    return 0;
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
static int find_standard_abi(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(info->dlpi_name, '/');
  if (name == NULL || strncmp(name, "/libmpi_abi.so", 14) != 0) return 0;
  *(void**)found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return 1;
}

struct entry {
  void* target;
  const char* name;
};
// Made by the linker; null if there are no entries.
extern struct entry __start_probe_entries[] __attribute__((visibility("hidden"), weak));
extern struct entry __stop_probe_entries[] __attribute__((visibility("hidden"), weak));

static void pass_on(void* library) {
  for (struct entry* entry = __start_probe_entries; entry < __stop_probe_entries; ++entry) {
    void* function = dlsym(RTLD_NEXT, entry->name);
    if (function == NULL && library != NULL) function = dlsym(library, entry->name);
    if (function != NULL) __atomic_store_n(&entry->target, function, __ATOMIC_RELEASE);
  }
}

static int is_first_rank(void) {
  static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
  for (unsigned k = 0; k < sizeof names / sizeof *names; ++k) {
    const char* const rank = getenv(names[k]);
    if (rank != NULL) return strcmp(rank, "0") == 0;
  }
  return 1;
}

#if defined(OPEN_MPI)
static const char *const own = "Open MPI", *const other = "MPICH";
#else
static const char *const own = "MPICH", *const other = "Open MPI";
#endif

void probe_leave_mark(const char* folder, const char* end) {
  char path[4096], host[64] = "";
  gethostname(host, sizeof host - 1);
  snprintf(path, sizeof path, "%s/%s.%ld%s", folder, host, (long)getpid(), end);
  const int mark = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (mark >= 0) close(mark);
}

static void say_other(const char* used) {
  const char* const folder = getenv("CULMEN_PROFILE_DIR");
  char end[64];
  snprintf(end, sizeof end, ".%s" PROBE_OTHER_MPI, used);
  if (folder != NULL) probe_leave_mark(folder, end);
  if (is_first_rank()) fprintf(stderr, "culmen: this program uses %s, not %s; it runs without culmen\n", used, own);
}

int probe_is_other_mpi(void) {
  const int has_open_mpi = probe_object("ompi_mpi_comm_world") != NULL;
  void* standard = NULL;
  const int is_standard = dl_iterate_phdr(find_standard_abi, &standard);
  if (has_open_mpi == (own[0] == 'O') && !is_standard) return 0;
  const char* const used = is_standard ? "the standard ABI of MPI" : other;
  if (__start_probe_entries == NULL) {  // calls would crash
    fprintf(stderr, "culmen: this program uses %s, not %s; it cannot run with culmen on this processor\n", used, own);
    _exit(2);
  }
  pass_on(is_standard ? standard : mpi_library());
  say_other(used);
  return 1;
}

#if !defined(OPEN_MPI)
/// Takes this library out of LD_PRELOAD. Null: it is not there.
static char* without_this_library(char* variable) {
  Dl_info own_library;
  if (!dladdr((void*)probe_is_other_mpi, &own_library)) return NULL;
  char* const found = strstr(variable, own_library.dli_fname);
  if (found == NULL) return NULL;
  const size_t length = strlen(own_library.dli_fname);
  memmove(found, found + length, strlen(found + length) + 1);  // colons may stay
  return variable;
}

/// Open MPI lacks functions that this library has, and mpi4py calls each function that it finds when it begins. So a
/// rank of Open MPI's launcher begins again without this library. CULMEN_WITHIN_OPEN_MPI: the command of the user is
/// itself such a rank.
__attribute__((constructor)) static void leave_open_mpi(int argc, char** argv, char** variables) {
  (void)argc;
  const int is_rank = getenv("OMPI_COMM_WORLD_RANK") != NULL && getenv("CULMEN_WITHIN_OPEN_MPI") == NULL;
  char program[4096];
  const ssize_t n = is_rank ? readlink("/proc/self/exe", program, sizeof program) : 0;
  if (n <= 0 || (size_t)n >= sizeof program) return;
  program[n] = '\0';
  for (char** each = variables; *each != NULL; ++each) {
    if (strncmp(*each, "LD_PRELOAD=", 11) != 0 || without_this_library(*each) == NULL) continue;
    say_other(other);
    execve(program, argv, variables);
    return;
  }
}
#endif

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
