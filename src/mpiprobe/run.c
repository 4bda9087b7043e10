// The start and the end of a profile, and its file. A profile begins at MPI_Init or at the first session, and ends when
// the program ends MPI. With sessions, the program may begin MPI again. Then the same profile continues.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "mpiprobe/record.h"

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

/// A system uses the numbers of processes again, and containers have numbers of their own.
static struct probe_file* open_file(const char* folder) {
  enum { most_of_a_name = 1000 };
  char path[4096], host[64] = "";
  gethostname(host, sizeof host - 1);
  int fd = -1;
  errno = EEXIST;
  for (unsigned k = 1; fd < 0 && errno == EEXIST && k < most_of_a_name; ++k) {
    snprintf(path, sizeof path, "%s/%s.%ld-%u.profile", folder, host, (long)getpid(), k);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (fd < 0) return NULL;
  void* at = MAP_FAILED;
  if (posix_fallocate(fd, 0, sizeof(struct probe_file)) == 0)
    at = mmap(NULL, sizeof(struct probe_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at != MAP_FAILED) return at;
  unlink(path);
  probe_leave_mark(folder, PROBE_NO_ROOM);
  return NULL;
}

static uint64_t begin_ticks, begin_ns, begin_unix_ns;
static int begun;   // MPI_Init, and each session
static int locked;  // threads may begin and end sessions at a time
static struct probe_use begin_use;

static void lock_runs(void) {
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE)) {
  }
}

static void unlock_runs(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

/// Both clocks at one moment. Ticks are calibrated by such pairs, so a process that loses its processor between the two
/// tries again.
static void read_clocks(uint64_t* ns, uint64_t* ticks) {
  enum { most_tries = 10, at_once_ns = 1000 };
  uint64_t least = UINT64_MAX;
  for (int tries = 0; tries < most_tries && least > at_once_ns; ++tries) {
    const uint64_t before = probe_nanoseconds(), now = probe_ticks(), took = probe_nanoseconds() - before;
    if (took >= least) continue;
    least = took;
    *ns = before;
    *ticks = now;
  }
}

/// Nanoseconds by which the clock that nodes share is ahead of that of probe_nanoseconds. The profile compares times of
/// ranks, so a process that loses its processor meanwhile tries again.
static uint64_t unix_offset(void) {
  enum { most_tries = 10, at_once_ns = 1000 };
  uint64_t least = UINT64_MAX, offset = 0;
  for (int tries = 0; tries < most_tries && least > at_once_ns; ++tries) {
    struct timespec now;
    const uint64_t before = probe_nanoseconds();
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t took = probe_nanoseconds() - before;
    if (took >= least) continue;
    least = took;
    offset = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - before - took / 2;
  }
  return offset;
}

static void before_begin(void) {
  if (begin_ns != 0) return;
  if (getenv("CULMEN_PROFILE_DIR") != NULL) probe_begin_counters();
  probe_invariant = has_invariant_counter();
  read_clocks(&begin_ns, &begin_ticks);
  begin_unix_ns = begin_ns + unix_offset();
}

static void describe(struct probe_file* made, int by_session) {
  struct probe_header* h = &made->header;
  h->process = (uint32_t)getpid();
  h->functions = probe_row_count;
  h->threads = 1;
  h->invariant = (uint32_t)probe_invariant;
  h->by_session = by_session;
  h->period = probe_period;
  h->begin_ticks = begin_ticks;
  h->begin_ns = begin_ns;
  h->begin_unix_ns = begin_unix_ns;
  h->world = probe_world_name();
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
}

/// Whether the profile could begin. A session gives the ranks of the world, whose communicator it does not have.
static int begin_profile(const struct probe_world* of_session) {
  const char* folder = getenv("CULMEN_PROFILE_DIR");
  if (folder != NULL) probe_begin_samples();  // even without a profile: the other ranks' samples wait for this rank
  struct probe_file* const made = folder != NULL ? open_file(folder) : NULL;
  if (made == NULL) return 0;
  describe(made, of_session != NULL);
  probe_profile = made;
  struct probe_header* h = &made->header;
  probe_begin_communicators(of_session);
  probe_begin_requests();
  probe_begin_timeline();
  h->rank = made->communicators[0].rank;
  h->size = made->communicators[0].size;
  begin_use = probe_used();
  read_clocks(&h->start_ns, &h->start_ticks);
  return 1;
}

/// With the lock.
static void begin_or_go_on(int level, const struct probe_world* of_session) {
  static int is_tried;
  const int is_first = !is_tried;
  is_tried = 1;
  if (is_first ? !begin_profile(of_session) : probe_profile == NULL) return;
  if (!is_first && of_session == NULL) probe_found_world();
  if (level == MPI_THREAD_MULTIPLE) probe_begin_threads();
  struct probe_header* h = &probe_profile->header;
  h->end_ns = h->end_ticks = 0;
  __atomic_store_n(&h->magic, PROBE_MAGIC, __ATOMIC_RELEASE);
}

/// level: the thread level of MPI. ranks: of the world; null if they are not known.
static void after_begin(int level, const struct probe_world* of_session, const MPI_Group* ranks) {
  lock_runs();
  const int is_alone = ++begun == 1;
  begin_or_go_on(level, of_session);
  probe_set_world_group(ranks, is_alone);
  unlock_runs();
}

static void end_profile(void) {
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
  read_clocks(&h->end_ns, &h->end_ticks);
  probe_reach(h->end_ticks - h->start_ticks);
}

static void before_end(void) {
  lock_runs();
  if (--begun == 0) {
    probe_set_world_group(NULL, 0);
    if (probe_profile != NULL) end_profile();
  }
  unlock_runs();
}

static void after_world(void) {
  int level = MPI_THREAD_MULTIPLE;  // variables of the MPI may raise it above what the program asks for
  ((int (*)(int*))probe_find("MPI_Query_thread"))(&level);
  MPI_Group ranks;
  const int is_known = REAL(MPI_Comm_group)(probe_world_communicator(), &ranks) == MPI_SUCCESS;
  after_begin(level, NULL, is_known ? &ranks : NULL);
}

PROBE_MPI(MPI_Init, int* argc, char*** argv) {
  int (*const real)(int*, char***) = (int (*)(int*, char***))probe_find("MPI_Init");
  if (probe_is_other_mpi()) return real(argc, argv);
  before_begin();
  probe_inside = UINTPTR_MAX;
  const int error = real(argc, argv);
  if (error == MPI_SUCCESS) after_world();
  probe_inside = 0;
  return error;
}

PROBE_MPI(MPI_Init_thread, int* argc, char*** argv, int required, int* provided) {
  int (*const real)(int*, char***, int, int*) = (int (*)(int*, char***, int, int*))probe_find("MPI_Init_thread");
  if (probe_is_other_mpi()) return real(argc, argv, required, provided);
  before_begin();
  probe_inside = UINTPTR_MAX;
  const int error = real(argc, argv, required, provided);
  if (error == MPI_SUCCESS) after_world();
  probe_inside = 0;
  return error;
}

PROBE_MPI(MPI_Finalize, void) {
  before_end();
  probe_inside = UINTPTR_MAX;
  const int error = ((int (*)(void))probe_find("MPI_Finalize"))();
  probe_inside = 0;
  return error;
}

// Open MPI's Fortran bindings call these.
PROBE_MPI_ALIAS(PMPI_Init, MPI_Init)
PROBE_MPI_ALIAS(PMPI_Init_thread, MPI_Init_thread)
PROBE_MPI_ALIAS(PMPI_Finalize, MPI_Finalize)

#if PROBE_MPI_4
static int sessions;

/// The thread level of a session. Several threads may call MPI, unless the session certainly has a lower level.
static int level_of(MPI_Session session) {
  MPI_Info info;
  char level[64] = "";
  int there = 0;
  if (REAL(MPI_Session_get_info)(session, &info) != MPI_SUCCESS) return MPI_THREAD_MULTIPLE;
  REAL(MPI_Info_get)(info, "thread_level", (int)sizeof level - 1, level, &there);
  REAL(MPI_Info_free)(&info);
  const int is_lower = strcmp(level, "MPI_THREAD_SINGLE") == 0 || strcmp(level, "MPI_THREAD_FUNNELED") == 0 ||
                       strcmp(level, "MPI_THREAD_SERIALIZED") == 0;
  return there && is_lower ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
}

static void after_session(MPI_Session session) {
  struct probe_world world = {0, 1};
  MPI_Group ranks;
  const int is_known = REAL(MPI_Group_from_session_pset)(session, "mpi://WORLD", &ranks) == MPI_SUCCESS;
  if (is_known) {
    REAL(MPI_Group_rank)(ranks, &world.rank);
    REAL(MPI_Group_size)(ranks, &world.size);
  }
  after_begin(level_of(session), &world, is_known ? &ranks : NULL);
}

/// The handles may be those of another MPI.
PROBE_MPI_OF(MPI_Session_init, begin_session, void* info, void* handler, MPI_Session* session) {
  typedef int init(void*, void*, MPI_Session*);
  init* const real = (init*)probe_find("MPI_Session_init");
  if (probe_inside != 0 || probe_is_other_mpi()) return real(info, handler, session);
  before_begin();
  probe_inside = UINTPTR_MAX;
  const int error = real(info, handler, session);
  if (error == MPI_SUCCESS) {
    __atomic_store_n(&sessions, 1, __ATOMIC_RELAXED);
    after_session(*session);
  }
  probe_inside = 0;
  return error;
}

PROBE_MPI(MPI_Session_finalize, MPI_Session* session) {
  int (*const real)(MPI_Session*) = (int (*)(MPI_Session*))probe_find("MPI_Session_finalize");
  if (probe_inside != 0) return real(session);
  before_end();
  probe_inside = UINTPTR_MAX;
  const int error = real(session);
  probe_inside = 0;
  return error;
}

PROBE_MPI_ALIAS(PMPI_Session_init, MPI_Session_init)
PROBE_MPI_ALIAS(PMPI_Session_finalize, MPI_Session_finalize)

/// A program may end with a session that it has not ended.
__attribute__((destructor)) static void end_with_program(void) {
  if (!sessions || probe_profile == NULL || probe_profile->header.process != (uint32_t)getpid()) return;  // of a child
  if (probe_profile->header.end_ns == 0) end_profile();
}
#endif
