// The time for which threads exist that call MPI: from the creation of a thread to its end, without the time in which
// it waits for the end of another one. Of the calls of MPI, only a thread's first one takes longer because of this.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mpiprobe/record.h"

static __thread struct {
  uint64_t made;  // ticks; 0: before the profile began, or not known
  int is_known, is_counted, is_present;
} own;
static pthread_key_t at_exit;
static int has_key;
static uint32_t alive;

/// With the lock. Adds or removes one thread from this moment on.
static void change_bins(uint64_t since_start, uint32_t shift, int by) {
  const uint64_t bin = since_start >> shift, next = (bin + 1) << shift;
  probe_profile->thread_ticks[bin] += by * (int64_t)(next - since_start);
  probe_profile->thread_changes[bin] += by;
}

static uint64_t since_start(uint64_t at) {
  const struct probe_header* const h = &probe_profile->header;
  if (h->end_ticks != 0 && at > h->end_ticks) at = h->end_ticks;
  return at > h->start_ticks ? at - h->start_ticks : 0;
}

static void change(uint64_t at, int by) {
  const uint64_t since = since_start(at);
  int is_done = 0;
  while (!is_done) {
    const uint32_t shift = probe_reach(since);  // takes the lock
    probe_lock();
    is_done = probe_profile->header.bin_shift == shift;
    if (is_done) change_bins(since, shift, by);
    probe_unlock();
  }
}

static void count_alive(int by) {
  struct probe_header* const h = &probe_profile->header;
  probe_lock();
  alive += by;
  if (alive > h->threads) h->threads = alive;
  probe_unlock();
}

static void leave(void* unused) {
  (void)unused;
  if (own.is_present) change(probe_ticks(), -1);
  own.is_present = 0;
  count_alive(-1);
}

void probe_begin_threads(void) {
  if (!has_key) has_key = pthread_key_create(&at_exit, leave) == 0;
  probe_several_threads = 1;
}

void probe_count_thread(uint64_t begin) {
  if (own.is_counted || !has_key) return;
  own.is_counted = own.is_present = 1;
  if (!own.is_known && syscall(SYS_gettid) != getpid()) own.made = begin;
  change(own.made, 1);
  pthread_setspecific(at_exit, &own);
  count_alive(1);
}

struct start {
  void* (*run)(void*);
  void* data;
  uint64_t made;
};

static void* run_thread(void* given) {
  const struct start start = *(struct start*)given;
  free(given);
  own.made = start.made;
  own.is_known = 1;
  return start.run(start.data);
}

static void* next_function(void** known, const char* name) {
  void* real = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (real == NULL) __atomic_store_n(known, real = dlsym(RTLD_NEXT, name), __ATOMIC_RELAXED);
  return real;
}

PROBE_PUBLIC int pthread_create(pthread_t* made, const pthread_attr_t* how, void* (*run)(void*), void* data) {
  static void* known;
  typedef int create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  create* const real = (create*)next_function(&known, "pthread_create");
  struct start* const start = malloc(sizeof *start);
  if (start == NULL) return real(made, how, run, data);
  *start = (struct start){run, data, probe_profile != NULL ? probe_ticks() : 0};
  const int error = real(made, how, run_thread, start);
  if (error != 0) free(start);
  return error;
}

PROBE_PUBLIC int pthread_join(pthread_t thread, void** result) {
  static void* known;
  int (*const real)(pthread_t, void**) = (int (*)(pthread_t, void**))next_function(&known, "pthread_join");
  if (!own.is_present) return real(thread, result);
  change(probe_ticks(), -1);
  own.is_present = 0;
  const int error = real(thread, result);
  own.is_present = 1;
  change(probe_ticks(), 1);
  return error;
}
