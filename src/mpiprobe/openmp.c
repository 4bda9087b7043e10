// The time of a program in parallel regions of OpenMP, and the share of this time in which its threads work. libgomp
// has no interface for tools. Therefore wrappers of its functions measure two times: that of the region, and that of
// each thread in the function that the compiler made of the region. In the rest of the time, a thread waits at barriers
// and at the end of the region.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/record.h"

typedef void body(void*);

/// On the stack of the thread that starts it, which waits for all others.
struct region {
  body* run;
  void* data;
  uint64_t worked, threads;
};
static __thread int in_region;
static __thread uint64_t waited;  // at barriers in the region

static int find_library(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  static const char* const names[] = {"libgomp.so", "libgomp-", "libomp.so", "libiomp5.so"};
  const char* name = strrchr(info->dlpi_name, '/');
  for (unsigned k = 0; name != NULL && k < sizeof names / sizeof *names; ++k) {
    if (strncmp(name + 1, names[k], strlen(names[k])) != 0) continue;
    *(void**)found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    return *(void**)found != NULL;
  }
  return 0;
}

/// The function of OpenMP itself. A library that the program loaded late may be the only one that has it.
static void* real_function(void** known, const char* name) {
  void* real = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (real != NULL) return real;
  real = dlsym(RTLD_NEXT, name);
  void* library = NULL;
  if (real == NULL && dl_iterate_phdr(find_library, &library)) real = dlsym(library, name);
  if (real == NULL) {
    fprintf(stderr, "culmen: the program calls %s, but no library of OpenMP that it has loaded has it\n", name);
    abort();
  }
  __atomic_store_n(known, real, __ATOMIC_RELAXED);
  return real;
}

static void run_part(void* data) {
  struct region* const region = data;
  const int outer = in_region;
  in_region = 1;
  waited = 0;
  const uint64_t begin = probe_ticks();
  region->run(region->data);
  const uint64_t ticks = probe_ticks() - begin - waited;
  in_region = outer;
  __atomic_fetch_add(&region->worked, ticks, __ATOMIC_RELAXED);
  __atomic_fetch_add(&region->threads, 1, __ATOMIC_RELAXED);
}

/// Regions within regions are a part of the outer one.
static int is_counted(void) { return probe_profile != NULL && !in_region && probe_profile->header.end_ticks == 0; }

static void count(const struct region* region, uint64_t ticks) {
  struct probe_header* const h = &probe_profile->header;
  __atomic_fetch_add(&h->regions, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&h->region_ticks, ticks, __ATOMIC_RELAXED);
  __atomic_fetch_add(&h->region_work, region->worked, __ATOMIC_RELAXED);
  __atomic_fetch_add(&h->region_room, region->threads * ticks, __ATOMIC_RELAXED);
}

#define REGION(name, declared, ...)                                              \
  PROBE_PUBLIC void name declared {                                              \
    static void* known;                                                          \
    void(*const real) declared = (void(*) declared)real_function(&known, #name); \
    struct region region = {fn, data, 0, 0};                                     \
    const int counted = is_counted();                                            \
    const uint64_t begin = counted ? probe_ticks() : 0;                          \
    if (counted) fn = run_part, data = &region;                                  \
    real(__VA_ARGS__);                                                           \
    if (counted) count(&region, probe_ticks() - begin);                          \
  }
#define IN_PARTS(name)                                                                                                \
  REGION(name, (body * fn, void* data, unsigned threads, long start, long end, long step, long part, unsigned flags), \
         fn, data, threads, start, end, step, part, flags)
#define AT_RUN_TIME(name)                                                                                            \
  REGION(name, (body * fn, void* data, unsigned threads, long start, long end, long step, unsigned flags), fn, data, \
         threads, start, end, step, flags)

REGION(GOMP_parallel, (body * fn, void* data, unsigned threads, unsigned flags), fn, data, threads, flags)
REGION(GOMP_parallel_sections, (body * fn, void* data, unsigned threads, unsigned sections, unsigned flags), fn, data,
       threads, sections, flags)
IN_PARTS(GOMP_parallel_loop_static)
IN_PARTS(GOMP_parallel_loop_dynamic)
IN_PARTS(GOMP_parallel_loop_guided)
IN_PARTS(GOMP_parallel_loop_nonmonotonic_dynamic)
IN_PARTS(GOMP_parallel_loop_nonmonotonic_guided)
AT_RUN_TIME(GOMP_parallel_loop_runtime)
AT_RUN_TIME(GOMP_parallel_loop_nonmonotonic_runtime)
AT_RUN_TIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

#define BARRIER(name)                                                        \
  PROBE_PUBLIC void name(void) {                                             \
    static void* known;                                                      \
    void (*const real)(void) = (void (*)(void))real_function(&known, #name); \
    const uint64_t begin = in_region ? probe_ticks() : 0;                    \
    real();                                                                  \
    if (in_region) waited += probe_ticks() - begin;                          \
  }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
