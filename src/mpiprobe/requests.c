// Requests that are under way, so that the time of a wait counts for the function that started the request.
#include "mpiprobe/record.h"

/// A place of the table. Threads may use different places at a time; MPI lets only one thread wait for a request.
struct request {
  /// Twice the handle, and one more if a wait has taken the request; 0: the place is free. Both are in one word,
  /// because the MPI may give the handle to another thread before the wait has returned. It then belongs to another
  /// request.
  uint64_t word;
  uint64_t bytes;  ///< of a start, if it is persistent
  uint32_t entry;  ///< of the function that started it
  uint32_t next;   ///< taken by the same wait
  uint32_t position;
  uint32_t parts;  ///< its bytes count when these are ready; 0: when it starts
  uint8_t persistent;
  uint8_t active;  ///< started, if it is persistent
  uint8_t ended;
  uint8_t moves;     ///< of a persistent request: moves_nothing, moves_out, moves_in or moves_together
  uint32_t message;  ///< the sampled message that it receives; 0: none
  uint32_t communicator;
  int32_t peer, tag;  ///< of the message of a persistent request; of a collective: the root, and probe_persistent()
};
enum { moves_nothing, moves_out, moves_in, moves_together };

enum { most_requests = 1 << 15, most_tries = 64, none = most_requests };
static struct request requests[most_requests];
static unsigned reach;  // no request is farther from its place
static uint64_t null_handle;
#if defined(OPEN_MPI)
static uint64_t complete_handle;
#endif

void probe_begin_requests(void) {
#if defined(OPEN_MPI)
  null_handle = PROBE_HANDLE((MPI_Request)probe_object("ompi_request_null"));
  complete_handle = PROBE_HANDLE((MPI_Request)probe_object("ompi_request_empty"));
#else
  null_handle = PROBE_HANDLE(MPI_REQUEST_NULL);
#endif
}

/// Requests that were complete when their functions returned share a handle.
static int is_complete(MPI_Request request) {
#if defined(OPEN_MPI)
  return PROBE_HANDLE(request) == complete_handle;
#else
  return (uint32_t)request >> 30 == 1;  // a predefined handle
#endif
}

static uint64_t word_of(uint64_t handle, unsigned taken) { return handle << 1 | taken; }

static void set_word(struct request* request, uint64_t word) {
  __atomic_store_n(&request->word, word, __ATOMIC_RELEASE);
}

static struct request* find(uint64_t handle, unsigned taken) {
  const unsigned farthest = __atomic_load_n(&reach, __ATOMIC_RELAXED);
  uint64_t at = probe_mixed(handle) % most_requests;
  for (unsigned tries = 0; tries <= farthest; ++tries, at = (at + 1) % most_requests) {
    struct request* const request = &requests[at];
    if (__atomic_load_n(&request->word, __ATOMIC_ACQUIRE) == word_of(handle, taken)) return request;
  }
  return NULL;
}

static struct request* claim(uint64_t handle) {
  struct request* const former = find(handle, 0);  // of a request that ended in a function without a wrapper
  if (former != NULL) return former;
  uint64_t at = probe_mixed(handle) % most_requests;
  for (unsigned tries = 0; tries < most_tries; ++tries, at = (at + 1) % most_requests) {
    uint64_t there = __atomic_load_n(&requests[at].word, __ATOMIC_RELAXED);
    if (there != 0 || !__atomic_compare_exchange_n(&requests[at].word, &there, word_of(handle, 0), 0, __ATOMIC_ACQUIRE,
                                                   __ATOMIC_RELAXED))
      continue;
    unsigned farthest = __atomic_load_n(&reach, __ATOMIC_RELAXED);
    while (tries > farthest &&
           !__atomic_compare_exchange_n(&reach, &farthest, tries, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return &requests[at];
  }
  return NULL;
}

void probe_started(MPI_Request request, struct probe_entry* entry) {
  if (entry == NULL) return;
  if (is_complete(request)) {
    probe_add(&entry->completed, 1);
    return;
  }
  struct request* const place = claim(PROBE_HANDLE(request));
  if (place == NULL) return;
  place->entry = (uint32_t)(entry - probe_profile->entries);
  place->persistent = 0;
  place->message = 0;
}

/// message: 0: it is not sampled.
static void waits_for(MPI_Request request, uint32_t message) {
  struct request* const place = message != 0 && !is_complete(request) ? find(PROBE_HANDLE(request), 0) : NULL;
  if (place != NULL) place->message = message;
}

void probe_expects(MPI_Request request, unsigned communicator, int source, int tag, const struct probe_entry* entry) {
  waits_for(request, probe_received(communicator, source, tag, entry));
}

void probe_joins(MPI_Request request, unsigned communicator, int needs, int root, const struct probe_entry* entry,
                 uint64_t begin) {
  waits_for(request, probe_joined(communicator, needs, root, entry, begin));
}

static void moves(MPI_Request request, uint8_t how, unsigned communicator, int peer, int tag) {
  struct request* const place = find(PROBE_HANDLE(request), 0);
  if (place == NULL) return;
  place->moves = how;
  place->communicator = communicator;
  place->peer = peer;
  place->tag = tag;
}

void probe_prepared_message(MPI_Request request, int sends, unsigned communicator, int peer, int tag) {
  moves(request, sends ? moves_out : moves_in, communicator, peer, tag);
}

void probe_prepared_collective(MPI_Request request, unsigned communicator, int needs, int root) {
  moves(request, moves_together, communicator, root, probe_persistent(communicator, needs));
}

static void count_message(struct request* request, const struct probe_entry* entry, uint64_t begin) {
  if (request->moves == moves_out) probe_sent(request->communicator, request->peer, request->tag, begin);
  if (request->moves == moves_in)
    request->message = probe_received(request->communicator, request->peer, request->tag, entry);
  if (request->moves == moves_together)
    request->message = probe_joined(request->communicator, request->tag, request->peer, entry, begin);
}

void probe_prepared(MPI_Request request, unsigned row, unsigned communicator, uint64_t bytes, int parts, int peer) {
  struct probe_entry* const entry = probe_entry(row, communicator, bytes, peer);
  struct request* const place = entry != NULL ? claim(PROBE_HANDLE(request)) : NULL;
  if (place == NULL) return;
  place->entry = (uint32_t)(entry - probe_profile->entries);
  place->bytes = bytes;
  place->parts = parts > 0 ? (uint32_t)parts : 0;
  place->persistent = 1;
  place->active = 0;
  place->moves = moves_nothing;
  place->message = 0;
}

static void move_time(struct probe_entry* from, struct probe_entry* to, uint64_t ticks) {
  probe_add(&to->charged, ticks);
  probe_add(&from->charged, 0 - ticks);
}

void probe_run(int count, const MPI_Request* handles, uint64_t ticks, struct probe_entry* start) {
  if (start == NULL || count <= 0) return;
  const uint64_t share = ticks / (uint64_t)count;
  for (int k = 0; k < count; ++k) {
    struct request* const request = find(PROBE_HANDLE(handles[k]), 0);
    if (request == NULL) continue;
    struct probe_entry* const entry = &probe_profile->entries[request->entry];
    request->active = 1;
    probe_add(&entry->calls, 1);
    if (request->parts == 0) probe_add(&entry->bytes, request->bytes);
    if (probe_period != 0) count_message(request, entry, probe_ticks() - ticks);
    move_time(start, entry, share);
  }
}

void probe_ready(MPI_Request handle, int parts, uint64_t ticks, struct probe_entry* ready) {
  const struct request* const request = ready != NULL ? find(PROBE_HANDLE(handle), 0) : NULL;
  if (request == NULL || request->parts == 0) return;
  struct probe_entry* const entry = &probe_profile->entries[request->entry];
  probe_add(&entry->bytes, request->bytes / request->parts * (uint64_t)parts);
  move_time(ready, entry, ticks);
}

void probe_looked(int count, const MPI_Request* handles, uint64_t ticks, struct probe_entry* look) {
  if (look == NULL || count <= 0) return;
  for (int k = 0; k < count; ++k) {
    const struct request* const request = find(PROBE_HANDLE(handles[k]), 0);
    if (request != NULL) move_time(look, &probe_profile->entries[request->entry], ticks / (uint64_t)count);
  }
}

void probe_freed(MPI_Request request) {
  struct request* const place = find(PROBE_HANDLE(request), 0);
  if (place != NULL) set_word(place, 0);
}

struct probe_waits probe_take(int count, const MPI_Request* handles) {
  struct probe_waits waits = {none, 0, 0, 0};
  if (probe_profile == NULL) return waits;
  uint32_t* next = &waits.first;
  for (int k = 0; k < count; ++k) {
    const uint64_t handle = PROBE_HANDLE(handles[k]);
    if (handle == null_handle) continue;
    if (is_complete(handles[k])) {
      ++waits.complete;
      continue;
    }
    struct request* const request = find(handle, 0);
    if (request == NULL) {
      ++waits.unknown;
      continue;
    }
    if (request->persistent && !request->active) continue;
    set_word(request, word_of(handle, 1));
    request->ended = 0;
    request->position = (uint32_t)k;
    request->next = none;
    *next = (uint32_t)(request - requests);
    next = &request->next;
    ++waits.known;
  }
  return waits;
}

/// Marks the requests that have ended. A persistent request keeps its handle.
static unsigned mark_ended(const struct probe_waits* waits, const MPI_Request* handles, int ended, const int* which) {
  unsigned known = 0;
  for (int k = 0; which != NULL && k < ended; ++k) {
    struct request* const request = find(PROBE_HANDLE(handles[which[k]]), 1);
    if (request != NULL) request->ended = 1;
  }
  for (uint32_t at = waits->first; at != none; at = requests[at].next) {
    struct request* const request = &requests[at];
    if (PROBE_HANDLE(handles[request->position]) == null_handle || (request->persistent && ended < 0))
      request->ended = 1;
    known += request->ended;
  }
  return known;
}

/// Releases a request of a chain. Returns the next one.
static uint32_t settle(struct request* request) {
  const uint32_t next = request->next;
  if (request->ended) request->message = 0;
  if (request->ended && !request->persistent) {
    set_word(request, 0);
    return next;
  }
  if (request->ended) request->active = 0;
  set_word(request, request->word & ~UINT64_C(1));
  return next;
}

void probe_charge(const struct probe_waits* waits, const MPI_Request* handles, int ended, const int* which,
                  uint64_t begin, uint64_t end, struct probe_entry* wait) {
  if (probe_profile == NULL) return;
  const unsigned known = mark_ended(waits, handles, ended, which);
  const uint64_t payers = known > 0 ? known : waits->known;
  const uint64_t share = payers > 0 && wait != NULL ? (end - begin) / payers : 0;
  for (uint32_t at = waits->first; at != none; at = settle(&requests[at])) {
    struct probe_entry* const entry = &probe_profile->entries[requests[at].entry];
    if (requests[at].ended || known == 0) probe_add(&entry->charged, share);
    if (requests[at].message != 0 && (requests[at].ended || known == 0))
      probe_waited(requests[at].message, begin, end, share, requests[at].ended);
    if (requests[at].ended) probe_add(&entry->completed, 1);
  }
  if (wait != NULL) probe_add(&wait->charged, 0 - share * payers);
  const unsigned seen = known + waits->complete;
  const unsigned others = ended < 0 ? waits->unknown : (unsigned)ended > seen ? (unsigned)ended - seen : 0;
  if (others > 0) probe_add(&probe_profile->header.uncharged, others);
}
