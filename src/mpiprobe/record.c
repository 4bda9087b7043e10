// The table of calls, and the file that it is in.
#define _GNU_SOURCE
#include "mpiprobe/record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

__thread uintptr_t probe_inside = 0;
int probe_invariant = 0;
struct probe_file* probe_profile;

int probe_several_threads = 0;

/// 0 for no bytes, else 1 + the position of the highest bit.
static unsigned size_class(uint64_t bytes) { return bytes == 0 ? 0 : 64 - (unsigned)__builtin_clzll(bytes); }

static struct probe_entry* entry_of(uint64_t key) {
  enum { most_tries = 64 };
  uint64_t at = probe_mixed(key) % probe_most_entries;
  for (unsigned tries = 0; tries < most_tries; ++tries, at = (at + 1) % probe_most_entries) {
    struct probe_entry* entry = &probe_profile->entries[at];
    uint64_t there = __atomic_load_n(&entry->key, __ATOMIC_RELAXED);
    if (there == key) return entry;
    if (there != 0) continue;
    if (__atomic_compare_exchange_n(&entry->key, &there, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) || there == key)
      return entry;
  }
  return NULL;
}

/// The least is kept as its complement, so that 0 is "none yet".
static void raise_to(uint64_t* highest, uint64_t to) {
  uint64_t now = __atomic_load_n(highest, __ATOMIC_RELAXED);
  while (to > now && !__atomic_compare_exchange_n(highest, &now, to, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

struct probe_entry* probe_entry(unsigned function, unsigned communicator, uint64_t bytes, int peer) {
  if (probe_profile == NULL) return NULL;
  const uint64_t who = (uint64_t)(uint32_t)((peer < -2 ? -2 : peer) + 2) & 0xffffff;
  return entry_of((1 + function) | (uint64_t)communicator << 16 | (uint64_t)size_class(bytes) << 32 | who << 40);
}

struct probe_entry* probe_record(unsigned function, unsigned communicator, uint64_t bytes, int peer, uint64_t begin,
                                 uint64_t end) {
  if (probe_profile == NULL) return NULL;
  const uint64_t ticks = end - begin;
  if (probe_several_threads) probe_count_thread(begin);
  probe_add_time(probe_row_kinds[function], begin, end);
  struct probe_entry* entry = probe_entry(function, communicator, bytes, peer);
  if (entry == NULL) {
    probe_add(&probe_profile->header.uncounted, 1);
    return NULL;
  }
  probe_add(&entry->calls, 1);
  probe_add(&entry->bytes, bytes);
  probe_add(&entry->ticks, ticks);
  raise_to(&entry->most_ticks, ticks);
  raise_to(&entry->least_ticks, ~ticks);
  return entry;
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
  if (at != MAP_FAILED) return at;
  unlink(path);
  snprintf(path, sizeof path, "%s/%s.%ld" PROBE_NO_ROOM, folder, host, (long)getpid());
  const int mark = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);  // an empty file fits on a full disk
  if (mark >= 0) close(mark);
  return NULL;
}

static uint64_t begin_ticks, begin_ns;
static struct probe_use begin_use;

static void before_init(void) {
  if (getenv("CULMEN_PROFILE_DIR") != NULL) probe_begin_counters();
  probe_invariant = has_invariant_counter();
  begin_ns = probe_nanoseconds();
  begin_ticks = probe_ticks();
}

static void after_init(void) {
  const char* folder = getenv("CULMEN_PROFILE_DIR");
  if (folder == NULL || probe_profile != NULL) return;
  struct probe_file* made = open_file(folder);
  if (made == NULL) return;
  int level = MPI_THREAD_MULTIPLE;  // variables of the MPI may raise it above what the program asks for
  ((int (*)(int*))probe_find("MPI_Query_thread"))(&level);
  probe_several_threads = level == MPI_THREAD_MULTIPLE;
  probe_begin_samples();
  struct probe_header* h = &made->header;
  h->process = (uint32_t)getpid();
  h->functions = probe_row_count;
  h->threads = probe_several_threads ? 0 : 1;
  h->invariant = (uint32_t)probe_invariant;
  h->period = probe_period;
  h->begin_ticks = begin_ticks;
  h->begin_ns = begin_ns;
  gethostname(h->host, sizeof h->host - 1);
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  ((int (*)(char*, int*))probe_find("MPI_Get_library_version"))(library, &length);
  snprintf(h->library, sizeof h->library, "%.*s", (int)sizeof h->library - 1, library);
  read_command(h->program, sizeof h->program);
  for (unsigned k = 0; k < probe_row_count && k < probe_most_functions; ++k) {
    snprintf(made->names[k], sizeof made->names[k], "%s", probe_rows[k]);
    made->kinds[k] = probe_row_kinds[k];
  }
  probe_profile = made;
  probe_begin_communicators();
  probe_begin_requests();
  probe_begin_timeline();
  if (probe_several_threads) probe_begin_threads();
  h->rank = probe_profile->communicators[0].rank;
  h->size = probe_profile->communicators[0].size;
  begin_use = probe_used();
  h->start_ns = probe_nanoseconds();
  h->start_ticks = probe_ticks();
  __atomic_store_n(&h->magic, PROBE_MAGIC, __ATOMIC_RELEASE);
}

PROBE_PUBLIC int MPI_Init(int* argc, char*** argv) {
  probe_check_mpi();
  before_init();
  probe_inside = UINTPTR_MAX;
  const int error = ((int (*)(int*, char***))probe_find("MPI_Init"))(argc, argv);
  if (error == MPI_SUCCESS) after_init();
  probe_inside = 0;
  return error;
}

PROBE_PUBLIC int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  probe_check_mpi();
  before_init();
  probe_inside = UINTPTR_MAX;
  const int error = ((int (*)(int*, char***, int, int*))probe_find("MPI_Init_thread"))(argc, argv, required, provided);
  if (error == MPI_SUCCESS) after_init();
  probe_inside = 0;
  return error;
}

PROBE_PUBLIC int MPI_Finalize(void) {
  if (probe_profile != NULL) {
    struct probe_header* const h = &probe_profile->header;
    const struct probe_use use = probe_used();
    h->memory_kib = use.memory_kib;
    h->cpu_ns = use.cpu_ns - begin_use.cpu_ns;
    h->preempted = use.preempted - begin_use.preempted;
    h->instructions = use.instructions - begin_use.instructions;
    h->cycles = use.cycles - begin_use.cycles;
    h->scalars = use.scalars - begin_use.scalars;
    h->vectors = use.vectors - begin_use.vectors;
    h->memory_cycles = use.memory_cycles - begin_use.memory_cycles;
    h->end_ns = probe_nanoseconds();
    h->end_ticks = probe_ticks();
    probe_reach(h->end_ticks - h->start_ticks);
  }
  probe_inside = UINTPTR_MAX;
  const int error = ((int (*)(void))probe_find("MPI_Finalize"))();
  probe_inside = 0;
  return error;
}

// Open MPI's Fortran bindings call these.
PROBE_PUBLIC int PMPI_Init(int*, char***) __attribute__((alias("MPI_Init")));
PROBE_PUBLIC int PMPI_Init_thread(int*, char***, int, int*) __attribute__((alias("MPI_Init_thread")));
PROBE_PUBLIC int PMPI_Finalize(void) __attribute__((alias("MPI_Finalize")));
