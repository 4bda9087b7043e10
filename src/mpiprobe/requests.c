// Requests that are under way, so that the time of a wait counts for the function that started the request.
#include "mpiprobe/record.h"

/// A place of the table. Threads may use different places at a time; MPI lets only one thread wait for a request.
struct request {
  uint64_t handle;  ///< + 1; 0: free
  uint32_t entry;   ///< of the function that started it
  uint32_t next;    ///< taken by the same wait
  uint32_t position;
  uint8_t taken;  ///< by a wait: if the handle comes again before the wait has returned, it is another request
};

enum { most_requests = 1 << 15, most_tries = 64, none = most_requests };
static struct request requests[most_requests];
static unsigned reach;  // no request is farther from its place
static uint64_t null_handle;
#if defined(OPEN_MPI)
static uint64_t complete_handle;
#endif

static uint64_t handle_of(MPI_Request request) { return (uint64_t)(uintptr_t)request + 1; }

void probe_begin_requests(void) {
#if defined(OPEN_MPI)
  null_handle = handle_of((MPI_Request)probe_object("ompi_request_null"));
  complete_handle = handle_of((MPI_Request)probe_object("ompi_request_empty"));
#else
  null_handle = handle_of(MPI_REQUEST_NULL);
#endif
}

/// Requests that were complete when their functions returned share a handle.
static int is_complete(MPI_Request request) {
#if defined(OPEN_MPI)
  return handle_of(request) == complete_handle;
#else
  return (uint32_t)request >> 30 == 1;  // a predefined handle
#endif
}

static struct request* find(uint64_t handle) {
  const unsigned farthest = __atomic_load_n(&reach, __ATOMIC_RELAXED);
  uint64_t at = probe_mixed(handle) % most_requests;
  for (unsigned tries = 0; tries <= farthest; ++tries, at = (at + 1) % most_requests) {
    struct request* const request = &requests[at];
    if (__atomic_load_n(&request->handle, __ATOMIC_ACQUIRE) == handle && !request->taken) return request;
  }
  return NULL;
}

static struct request* claim(uint64_t handle) {
  struct request* const former = find(handle);  // of a request that ended in a function without a wrapper
  if (former != NULL) return former;
  uint64_t at = probe_mixed(handle) % most_requests;
  for (unsigned tries = 0; tries < most_tries; ++tries, at = (at + 1) % most_requests) {
    uint64_t there = __atomic_load_n(&requests[at].handle, __ATOMIC_RELAXED);
    if (there != 0 ||
        !__atomic_compare_exchange_n(&requests[at].handle, &there, handle, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    unsigned farthest = __atomic_load_n(&reach, __ATOMIC_RELAXED);
    while (tries > farthest &&
           !__atomic_compare_exchange_n(&reach, &farthest, tries, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return &requests[at];
  }
  return NULL;
}

static void release(struct request* request) {
  request->taken = 0;
  __atomic_store_n(&request->handle, 0, __ATOMIC_RELEASE);
}

void probe_started(MPI_Request request, struct probe_entry* entry) {
  if (entry == NULL) return;
  if (is_complete(request)) {
    probe_add(&entry->completed, 1);
    return;
  }
  struct request* const place = claim(handle_of(request));
  if (place != NULL) place->entry = (uint32_t)(entry - probe_profile->entries);
}

void probe_freed(MPI_Request request) {
  struct request* const place = find(handle_of(request));
  if (place != NULL) release(place);
}

struct probe_waits probe_take(int count, const MPI_Request* handles) {
  struct probe_waits waits = {none, 0, 0, 0};
  if (probe_profile == NULL) return waits;
  uint32_t* next = &waits.first;
  for (int k = 0; k < count; ++k) {
    const uint64_t handle = handle_of(handles[k]);
    if (handle == null_handle) continue;
    if (is_complete(handles[k])) {
      ++waits.complete;
      continue;
    }
    struct request* const request = find(handle);
    if (request == NULL) {
      ++waits.unknown;
      continue;
    }
    request->taken = 1;
    request->position = (uint32_t)k;
    request->next = none;
    *next = (uint32_t)(request - requests);
    next = &request->next;
    ++waits.known;
  }
  return waits;
}

static int has_ended(const struct request* request, const MPI_Request* handles) {
  return handle_of(handles[request->position]) == null_handle;
}

void probe_charge(const struct probe_waits* waits, const MPI_Request* handles, int ended, uint64_t ticks,
                  struct probe_entry* wait) {
  if (probe_profile == NULL || wait == NULL) return;
  unsigned known = 0;
  for (uint32_t at = waits->first; at != none; at = requests[at].next) known += has_ended(&requests[at], handles) != 0;
  const uint64_t payers = known > 0 ? known : waits->known;
  const uint64_t share = payers > 0 ? ticks / payers : 0;
  for (uint32_t at = waits->first, next = none; at != none; at = next) {
    struct request* const request = &requests[at];
    struct probe_entry* const entry = &probe_profile->entries[request->entry];
    const int over = has_ended(request, handles);
    next = request->next;
    if (over || known == 0) probe_add(&entry->charged, share);
    if (over) probe_add(&entry->completed, 1);
    if (over) release(request);
    else request->taken = 0;
  }
  probe_add(&wait->charged, 0 - share * payers);
  probe_add(&wait->completed, known);
  const unsigned others = ended < 0                                   ? waits->unknown
                          : (unsigned)ended > known + waits->complete ? (unsigned)ended - known - waits->complete
                                                                      : 0;
  if (others > 0) probe_add(&probe_profile->header.uncharged, others);
}
