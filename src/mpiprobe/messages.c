// Samples of messages, so that the report knows how long a request waited for a late sender. The nth message of a
// stream is the same one for its sender and its receiver. Both write when they were ready for it, and the report
// compares the times. Nobody waits, and nothing is sent. The nth nonblocking call of a collective function is the same
// one on all ranks of its communicator, so each rank writes when it came and when it was ready for the others.
#include "mpiprobe/record.h"
#include "mpiprobe/sampling.h"

enum { streams = 1 << 13, most_tries = 64, is_full = -1 };
static struct {
  uint64_t key;  // 0: free
  uint32_t messages;
} table[streams];
/// With MPI_ANY_SOURCE or MPI_ANY_TAG, the number of a message in its stream is not known.
static uint8_t is_lost[probe_most_communicators];
static int all_lost;

/// The number of this message among those of the same communicator, rank and tag.
static int64_t next_of(int sends, unsigned communicator, int peer, int tag) {
  const uint64_t key = UINT64_C(1) << 63 | (uint64_t)communicator << 53 | (uint64_t)(sends != 0) << 52 |
                       ((uint64_t)(uint32_t)peer & 0xfffff) << 32 | (uint32_t)tag;
  uint64_t at = probe_mixed(key) % streams;
  for (unsigned tries = 0; tries < most_tries; ++tries, at = (at + 1) % streams) {
    uint64_t there = __atomic_load_n(&table[at].key, __ATOMIC_RELAXED);
    if (there == 0 && __atomic_compare_exchange_n(&table[at].key, &there, key, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      there = key;
    if (there == key) return __atomic_fetch_add(&table[at].messages, 1, __ATOMIC_RELAXED);
  }
  return is_full;
}

static struct probe_message* new_message(int sends, unsigned communicator, int peer, int tag, int64_t number) {
  const uint64_t place = __atomic_fetch_add(&probe_profile->header.messages, 1, __ATOMIC_RELAXED);
  if (place >= probe_most_messages) return NULL;
  struct probe_message* const message = &probe_profile->messages[place];
  message->communicator = communicator;
  message->sends = sends != 0;
  message->peer = peer;
  message->tag = tag;
  message->number = (uint32_t)number;
  return message;
}

/// The number of the message that the function of this entry receives, from 1. message: null: 0.
static uint32_t received_by(const struct probe_entry* entry, struct probe_message* message) {
  if (message == NULL) return 0;
  message->entry = (uint32_t)(entry - probe_profile->entries);
  return (uint32_t)(message - probe_profile->messages) + 1;
}

static int is_sample(int64_t number) { return number >= 0 && probe_is_sample((uint64_t)number, probe_period); }

void probe_sent(unsigned communicator, int dest, int tag, uint64_t begin) {
  if (probe_profile == NULL || probe_peer(dest) < 0 || communicator >= probe_no_communicator) return;
  const int64_t number = next_of(1, communicator, dest, tag);
  if (!is_sample(number)) return;
  struct probe_message* const message = new_message(1, communicator, dest, tag, number);
  if (message != NULL) message->first = message->last = begin;
}

uint32_t probe_received(unsigned communicator, int source, int tag, const struct probe_entry* entry) {
  if (probe_profile == NULL || probe_peer(source) == -1 || communicator >= probe_no_communicator) return 0;
  if (all_lost || is_lost[communicator]) return 0;
  if (probe_peer(source) == -2 || tag == MPI_ANY_TAG) {
    is_lost[communicator] = 1;
    return 0;
  }
  const int64_t number = next_of(0, communicator, source, tag);
  if (entry == NULL || !is_sample(number)) return 0;
  return received_by(entry, new_message(0, communicator, source, tag, number));
}

int probe_persistent(unsigned communicator, int needs) {
  enum { most = 256 };  // requests, so that messages have room in the table
  if (probe_profile == NULL || communicator >= probe_no_communicator) return 0;
  const int64_t number = next_of(1, communicator, -1, -probe_needs_end);
  return number >= 0 && number < most ? needs + (int)(number + 1) * probe_needs_end : 0;
}

uint32_t probe_joined(unsigned communicator, int needs, int root, const struct probe_entry* entry, uint64_t begin) {
  if (probe_profile == NULL || communicator >= probe_no_communicator || needs == 0) return 0;
  const int64_t number = next_of(1, communicator, -1, -needs);
  if (entry == NULL || !is_sample(number)) return 0;
  struct probe_message* const came = new_message(1, communicator, root, -needs, number);
  if (came == NULL) return 0;
  came->first = came->last = begin;
  return received_by(entry, new_message(0, communicator, root, -needs, number));
}

void probe_lost(void) { all_lost = 1; }

void probe_waited(uint32_t number, uint64_t begin, uint64_t end, uint64_t share, int ended) {
  struct probe_message* const message = &probe_profile->messages[number - 1];
  if (message->first == 0) message->first = begin;
  message->charged += share;
  if (ended) message->last = end;
}

void probe_exchanged(unsigned communicator, int source, int tag, const struct probe_entry* entry, uint64_t begin,
                     uint64_t end) {
  const uint32_t number = probe_received(communicator, source, tag, entry);
  if (number != 0) probe_waited(number, begin, end, end - begin, 1);
}
