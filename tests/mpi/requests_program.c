// Threads share a few handles of requests, as an MPI gives a handle again as soon as its request has ended. The table
// of requests must charge every request. It needs no MPI at run time: `requests_program THREADS REQUESTS`.
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpiprobe/record.h"

enum { handles = 3, most_threads = 64 };
int probe_several_threads = 1;
struct probe_file* probe_profile;
void* probe_object(const char* symbol) { return (void)symbol, NULL; }
struct probe_entry* probe_entry(unsigned function, unsigned communicator, uint64_t bytes, int peer) {
  return (void)communicator, (void)bytes, (void)peer, &probe_profile->entries[function];
}

// No messages are sampled here.
unsigned probe_period;
int probe_invariant = 1;
void probe_sent(unsigned communicator, int dest, int tag, uint64_t begin) {
  (void)communicator, (void)dest, (void)tag, (void)begin;
}
int probe_persistent(unsigned communicator, int needs) { return (void)communicator, needs; }
uint32_t probe_joined(unsigned communicator, int needs, int root, const struct probe_entry* entry, uint64_t begin) {
  (void)communicator, (void)needs, (void)root, (void)entry, (void)begin;
  return 0;
}
uint32_t probe_received(unsigned communicator, int source, int tag, const struct probe_entry* entry) {
  return (void)communicator, (void)source, (void)tag, (void)entry, 0;
}
void probe_waited(uint32_t number, uint64_t begin, uint64_t end, uint64_t share, int ended) {
  (void)number, (void)begin, (void)end, (void)share, (void)ended;
}

static uint64_t is_free[handles];
static long requests_each;

static unsigned take_handle(void) {
  for (unsigned k = 0;; k = (k + 1) % handles) {
    if (k == 0) sched_yield();
    uint64_t there = 1;
    if (__atomic_compare_exchange_n(&is_free[k], &there, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return k;
  }
}

/// An MPI_Isend and its MPI_Wait. The handle is free before the wait returns.
static void* send(void* number) {
  struct probe_entry* const entry = &probe_profile->entries[(intptr_t)number];
  for (long k = 0; k < requests_each; ++k) {
    const unsigned place = take_handle();
    MPI_Request request = (MPI_Request)(intptr_t)(1000 + 16 * place);
    probe_started(request, entry);
    const struct probe_waits waits = probe_take(1, &request);
    request = MPI_REQUEST_NULL;
    __atomic_store_n(&is_free[place], 1, __ATOMIC_RELEASE);
    probe_charge(&waits, &request, -1, NULL, 0, 2, &probe_profile->entries[most_threads]);
  }
  return NULL;
}

int main(int count, char** words) {
  const int threads = count > 2 ? atoi(words[1]) : 2;
  requests_each = count > 2 ? atol(words[2]) : 1000;
  probe_profile = calloc(1, sizeof *probe_profile);
  probe_begin_requests();
  for (int k = 0; k < handles; ++k) is_free[k] = 1;
  pthread_t running[most_threads];
  for (intptr_t k = 0; k < threads; ++k) pthread_create(&running[k], NULL, send, (void*)k);
  for (int k = 0; k < threads; ++k) pthread_join(running[k], NULL);
  int wrong = 0;
  for (int k = 0; k < threads; ++k) {
    const struct probe_entry* const entry = &probe_profile->entries[k];
    printf("thread %d: %lu of %ld requests ended, %lu ticks\n", k, entry->completed, requests_each, entry->charged);
    wrong |= entry->completed != (uint64_t)requests_each || entry->charged != 2 * (uint64_t)requests_each;
  }
  printf("%lu requests of unknown functions\n", probe_profile->header.uncharged);
  return wrong || probe_profile->header.uncharged != 0;
}
