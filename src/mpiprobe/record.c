#define _GNU_SOURCE
#include "mpiprobe/record.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

__thread int probe_inside = 0;
int probe_invariant = 0;

static struct probe_file* file;  // null: nothing is recorded
static int several_threads;      // may call MPI at a time
enum { slots = 4 * probe_most_communicators };
static struct {
  uint64_t handle;  // + 1; 0: free
  unsigned number;
} places[slots];
static unsigned children[probe_most_communicators];  // communicators made of it
static MPI_Comm no_communicator;
static int adding;  // a lock

/// The MPI that this process has loaded, whoever loaded it.
static int find_mpi(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* name = strrchr(info->dlpi_name, '/');
  if (name == NULL || (strncmp(name, "/libmpi.so", 10) != 0 && strncmp(name, "/libmpich.so", 12) != 0)) return 0;
  *(void**)found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return *(void**)found != NULL;
}

void* probe_find(const char* name) {
  static void* library;
  if (library == NULL) dl_iterate_phdr(find_mpi, &library);
  char profiled[probe_name_bytes + 1];
  snprintf(profiled, sizeof profiled, "P%s", name);
  void* function = library != NULL ? dlsym(library, profiled) : NULL;
  return function != NULL ? function : dlsym(RTLD_NEXT, name);
}

uint64_t probe_size_of(MPI_Datatype datatype) {
  static int (*real)(MPI_Datatype, int*);
  if (real == NULL) real = (int (*)(MPI_Datatype, int*))probe_find("MPI_Type_size");
  int size = 0;
  return real(datatype, &size) == MPI_SUCCESS ? (uint64_t)size : 0;
}

static void lock(void) {
  while (__atomic_exchange_n(&adding, 1, __ATOMIC_ACQUIRE)) {
  }
}
static void unlock(void) { __atomic_store_n(&adding, 0, __ATOMIC_RELEASE); }

static uint64_t mixed(uint64_t x) {
  x *= UINT64_C(0x9e3779b97f4a7c15);
  return x ^ (x >> 29);
}

static uint64_t handle_of(MPI_Comm communicator) { return (uint64_t)(uintptr_t)communicator + 1; }

/// -1: unknown.
static int number_of(uint64_t handle) {
  uint64_t at = mixed(handle) % slots;
  for (unsigned tries = 0; tries < slots; ++tries, at = (at + 1) % slots) {
    const uint64_t there = __atomic_load_n(&places[at].handle, __ATOMIC_ACQUIRE);
    if (there == handle) return (int)__atomic_load_n(&places[at].number, __ATOMIC_RELAXED);
    if (there == 0) return -1;
  }
  return -1;
}

/// With the lock. A handle that was freed may come again.
static void set_number(uint64_t handle, unsigned number) {
  uint64_t at = mixed(handle) % slots;
  for (unsigned tries = 0; tries < slots; ++tries, at = (at + 1) % slots) {
    if (places[at].handle != 0 && places[at].handle != handle) continue;
    __atomic_store_n(&places[at].number, number, __ATOMIC_RELAXED);
    __atomic_store_n(&places[at].handle, handle, __ATOMIC_RELEASE);
    return;
  }
}

/// With the lock.
static unsigned add_communicator(MPI_Comm made, const char* origin) {
  const unsigned number = file->header.communicators;
  if (number >= probe_no_communicator) return probe_further_communicators;
  struct probe_communicator* c = &file->communicators[number];
  int (*const size)(MPI_Comm, int*) = (int (*)(MPI_Comm, int*))probe_find("MPI_Comm_size");
  int (*const rank)(MPI_Comm, int*) = (int (*)(MPI_Comm, int*))probe_find("MPI_Comm_rank");
  size(made, &c->size);
  rank(made, &c->rank);
  snprintf(c->origin, sizeof c->origin, "%s", origin);
  file->header.communicators = number + 1;
  set_number(handle_of(made), number);
  return number;
}

unsigned probe_communicator(MPI_Comm communicator) {
  static __thread uint64_t last_handle;
  static __thread unsigned last_number;
  if (file == NULL) return 0;
  const uint64_t handle = handle_of(communicator);
  if (handle == last_handle && __atomic_load_n(&places[mixed(handle) % slots].handle, __ATOMIC_RELAXED) == handle &&
      places[mixed(handle) % slots].number == last_number)
    return last_number;
  int number = number_of(handle);
  if (number < 0) {
    lock();
    number = number_of(handle);
    if (number < 0) {
      char origin[probe_origin_bytes];
      snprintf(origin, sizeof origin, "made by an unknown function, %u", file->header.communicators);
      number = (int)add_communicator(communicator, origin);
    }
    unlock();
  }
  last_handle = handle;
  last_number = (unsigned)number;
  return last_number;
}

void probe_created(unsigned parent, MPI_Comm made, const char* how, int colour) {
  if (file == NULL) return;
  lock();
  const unsigned of_parent = ++children[parent];
  if (made != no_communicator) {
    char origin[probe_origin_bytes + 64], suffix[32] = "";
    if (colour >= 0) snprintf(suffix, sizeof suffix, " colour %d", colour);
    snprintf(origin, sizeof origin, "%s/%s %u%s", file->communicators[parent].origin, how, of_parent, suffix);
    origin[probe_origin_bytes - 1] = '\0';
    add_communicator(made, origin);
  }
  unlock();
}

uint64_t probe_group_size(unsigned communicator) {
  return file == NULL ? 0 : (uint64_t)file->communicators[communicator].size;
}

int probe_group_rank(unsigned communicator) { return file == NULL ? 0 : file->communicators[communicator].rank; }

uint64_t probe_large_sum_of(const MPI_Count* counts, unsigned communicator) {
  uint64_t sum = 0;
  for (uint64_t k = 0; k < probe_group_size(communicator); ++k) sum += (uint64_t)counts[k];
  return sum;
}

uint64_t probe_sum_of(const int* counts, unsigned communicator) {
  uint64_t sum = 0;
  for (uint64_t k = 0; k < probe_group_size(communicator); ++k) sum += (uint64_t)counts[k];
  return sum;
}

/// 0 for no bytes, else 1 + the position of the highest bit.
static unsigned size_class(uint64_t bytes) { return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes); }

static struct probe_entry* entry_of(uint64_t key) {
  enum { most_tries = 64 };
  uint64_t at = mixed(key) % probe_most_entries;
  for (unsigned tries = 0; tries < most_tries; ++tries, at = (at + 1) % probe_most_entries) {
    struct probe_entry* entry = &file->entries[at];
    uint64_t there = __atomic_load_n(&entry->key, __ATOMIC_RELAXED);
    if (there == key) return entry;
    if (there != 0) continue;
    if (__atomic_compare_exchange_n(&entry->key, &there, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || there == key)
      return entry;
  }
  return NULL;
}

static void add(uint64_t* to, uint64_t more) {
  if (several_threads) __atomic_fetch_add(to, more, __ATOMIC_RELAXED);
  else *to += more;
}

/// The least is kept as its complement, so that 0 is "none yet".
static void raise(uint64_t* highest, uint64_t to) {
  uint64_t now = __atomic_load_n(highest, __ATOMIC_RELAXED);
  while (to > now && !__atomic_compare_exchange_n(highest, &now, to, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

void probe_record(unsigned function, unsigned communicator, uint64_t bytes, int peer, uint64_t ticks) {
  if (file == NULL) return;
  const uint64_t who = (uint64_t)(uint32_t)((peer < -2 ? -2 : peer) + 2) & 0xffffff;
  const uint64_t key = (1 + function) | (uint64_t)communicator << 16 | (uint64_t)size_class(bytes) << 32 | who << 40;
  struct probe_entry* entry = entry_of(key);
  if (entry == NULL) {
    add(&file->header.uncounted, 1);
    return;
  }
  add(&entry->calls, 1);
  add(&entry->bytes, bytes);
  add(&entry->ticks, ticks);
  raise(&entry->most_ticks, ticks);
  raise(&entry->least_ticks, ~ticks);
}

static int has_invariant_counter(void) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
#else
  return 0;
#endif
}

/// The words of this process with spaces between them.
static void read_command(char* text, size_t room) {
  const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);
  if (fd >= 0) close(fd);
  for (ssize_t k = 0; k + 1 < n; ++k) {
    if (text[k] == '\0') text[k] = ' ';
  }
  text[n > 0 ? n : 0] = '\0';
}

static struct probe_file* open_file(const char* folder) {
  char path[4096], host[64] = "";
  gethostname(host, sizeof host - 1);
  snprintf(path, sizeof path, "%s/%s.%ld.profile", folder, host, (long)getpid());
  const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return NULL;
  void* at = MAP_FAILED;
  if (posix_fallocate(fd, 0, sizeof(struct probe_file)) == 0)
    at = mmap(NULL, sizeof(struct probe_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) unlink(path);
  return at == MAP_FAILED ? NULL : at;
}

/// The program may have copies of Open MPI's objects, which MPI then uses instead of its own.
static MPI_Comm predefined(const char* symbol, MPI_Comm otherwise) {
#if defined(OPEN_MPI)
  void* const copy = dlsym(RTLD_DEFAULT, symbol);
  if (copy != NULL) return (MPI_Comm)copy;
  void* library = NULL;
  dl_iterate_phdr(find_mpi, &library);
  (void)otherwise;
  return (MPI_Comm)dlsym(library, symbol);
#else
  (void)symbol;
  return otherwise;
#endif
}
#if defined(OPEN_MPI)
#define WORLD predefined("ompi_mpi_comm_world", 0)
#define SELF predefined("ompi_mpi_comm_self", 0)
#define NONE predefined("ompi_mpi_comm_null", 0)
#else
#define WORLD predefined("", MPI_COMM_WORLD)
#define SELF predefined("", MPI_COMM_SELF)
#define NONE predefined("", MPI_COMM_NULL)
#endif

static uint64_t begin_ticks, begin_ns;

static void before_init(void) {
  probe_invariant = has_invariant_counter();
  begin_ns = probe_nanoseconds();
  begin_ticks = probe_ticks();
}

static void after_init(int level) {
  const char* folder = getenv("CULMEN_PROFILE_DIR");
  if (folder == NULL || file != NULL) return;
  struct probe_file* made = open_file(folder);
  if (made == NULL) return;
  several_threads = level == MPI_THREAD_MULTIPLE;
  struct probe_header* h = &made->header;
  h->process = (uint32_t)getpid();
  h->functions = probe_functions;
  h->invariant = (uint32_t)probe_invariant;
  h->begin_ticks = begin_ticks;
  h->begin_ns = begin_ns;
  gethostname(h->host, sizeof h->host - 1);
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  ((int (*)(char*, int*))probe_find("MPI_Get_library_version"))(library, &length);
  snprintf(h->library, sizeof h->library, "%.*s", (int)sizeof h->library - 1, library);
  read_command(h->program, sizeof h->program);
  for (unsigned k = 0; k < probe_functions && k < probe_most_functions; ++k)
    snprintf(made->names[k], sizeof made->names[k], "%s", probe_names[k]);
  no_communicator = NONE;
  file = made;
  lock();
  add_communicator(WORLD, "world");
  add_communicator(SELF, "self");
  snprintf(file->communicators[probe_further_communicators].origin, probe_origin_bytes, "further communicators");
  unlock();
  h->rank = file->communicators[0].rank;
  h->size = file->communicators[0].size;
  h->start_ns = probe_nanoseconds();
  h->start_ticks = probe_ticks();
  __atomic_store_n(&h->magic, PROBE_MAGIC, __ATOMIC_RELEASE);
}

PROBE_PUBLIC int MPI_Init(int* argc, char*** argv) {
  before_init();
  probe_inside = 1;
  const int error = ((int (*)(int*, char***))probe_find("MPI_Init"))(argc, argv);
  if (error == MPI_SUCCESS) after_init(MPI_THREAD_SINGLE);
  probe_inside = 0;
  return error;
}

PROBE_PUBLIC int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  before_init();
  probe_inside = 1;
  const int error = ((int (*)(int*, char***, int, int*))probe_find("MPI_Init_thread"))(argc, argv, required, provided);
  if (error == MPI_SUCCESS) after_init(*provided);
  probe_inside = 0;
  return error;
}

PROBE_PUBLIC int MPI_Finalize(void) {
  if (file != NULL) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) file->header.memory_kib = (uint64_t)usage.ru_maxrss;
    file->header.end_ns = probe_nanoseconds();
    file->header.end_ticks = probe_ticks();
  }
  probe_inside = 1;
  const int error = ((int (*)(void))probe_find("MPI_Finalize"))();
  probe_inside = 0;
  return error;
}
