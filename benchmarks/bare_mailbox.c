// bare_mailbox WORKERS SECONDS TASK_US PREFETCH
//
// The peer against which culmen's mailbox is measured: nothing but fixed slots in shared memory and futexes between a
// master and its worker processes. One ring of slots per worker and direction, a bitmap of workers that have something
// for the master, and sleeping on both sides. Every reply is checked. It keeps none of the promises of a transport:
// no frames beyond a slot, no full rings, no deaths, no hostile memory.
//
// Prints one JSON line: items a second over the last 70 % of the time, the number of wrong replies, the efficiency, and
// the duration of a lone task. The efficiency is tasks × duration of a task / (workers × time), with the duration of a
// lone task, or (raw) with the requested duration.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { slots = 16, frame_bytes = 512, most_workers = 4096, memory_fd = 3, spins = 100, checks_per_clock = 64 };

typedef _Atomic uint32_t word;

struct frame {
  int64_t number;  // negative: the end
  int64_t answer;
  char rest[frame_bytes - 16];
};

struct ring {
  _Alignas(64) word head;  // consumer's
  _Alignas(64) word tail;  // producer's
  _Alignas(64) struct frame frames[slots];
};

struct box {
  _Alignas(64) word sleeping;  // the worker's, on to_worker.tail
  struct ring to_worker, to_master;
};

struct hub {
  _Alignas(64) word bell;
  word sleeping;
  _Alignas(64) _Atomic uint64_t ready[most_workers / 64];
};

struct memory {
  struct hub hub;
  struct box boxes[];
};

extern char** environ;

static void fail(const char* what) {
  fprintf(stderr, "bare_mailbox: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_on(word* at, uint32_t seen) { syscall(SYS_futex, at, FUTEX_WAIT, seen, NULL, NULL, 0); }
static void wake(word* at) { syscall(SYS_futex, at, FUTEX_WAKE, 1, NULL, NULL, 0); }

static bool put(struct ring* ring, const struct frame* frame) {
  const uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  if (tail - atomic_load_explicit(&ring->head, memory_order_acquire) == slots) return false;
  ring->frames[tail % slots] = *frame;
  atomic_store(&ring->tail, tail + 1);
  return true;
}

static bool take(struct ring* ring, struct frame* frame) {
  const uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  if (head == atomic_load_explicit(&ring->tail, memory_order_acquire)) return false;
  *frame = ring->frames[head % slots];
  atomic_store_explicit(&ring->head, head + 1, memory_order_release);
  return true;
}

static void send_to_worker(struct box* box, const struct frame* frame) {
  if (!put(&box->to_worker, frame)) fail("a ring is full, prefetch is too large");
  if (atomic_load(&box->sleeping)) wake(&box->to_worker.tail);
}

static void receive_at_worker(struct box* box, struct frame* frame) {
  struct ring* ring = &box->to_worker;
  while (!take(ring, frame)) {
    const uint32_t seen = atomic_load(&ring->head);
    atomic_store(&box->sleeping, 1);
    if (atomic_load(&ring->tail) == seen) wait_on(&ring->tail, seen);
    atomic_store_explicit(&box->sleeping, 0, memory_order_relaxed);
  }
}

static void send_to_master(struct hub* hub, struct box* box, unsigned worker, const struct frame* frame) {
  if (!put(&box->to_master, frame)) fail("a ring is full, prefetch is too large");
  atomic_fetch_or(&hub->ready[worker / 64], UINT64_C(1) << worker % 64);
  atomic_fetch_add(&hub->bell, 1);
  if (atomic_load(&hub->sleeping)) wake(&hub->bell);
}

static void sleep_at_master(struct hub* hub, uint32_t seen) {
  for (int i = 0; i < spins; ++i) {
    if (atomic_load(&hub->bell) != seen) return;
    __builtin_ia32_pause();
  }
  atomic_store(&hub->sleeping, 1);
  if (atomic_load(&hub->bell) == seen) wait_on(&hub->bell, seen);
  atomic_store_explicit(&hub->sleeping, 0, memory_order_relaxed);
}

static void do_task(long task_us) {
  const struct timespec task = {task_us / 1000000, task_us % 1000000 * 1000};
  if (task_us > 0) nanosleep(&task, NULL);
}

static int64_t answer_to(int64_t number) { return number * 2654435761 + 12345; }

static struct memory* map(size_t bytes) {
  void* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (at == MAP_FAILED) fail("mmap");
  return at;
}

static size_t bytes_for(unsigned workers) { return sizeof(struct memory) + workers * sizeof(struct box); }

static int work(unsigned worker, unsigned workers, long task_us) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_TIMERSLACK, 1);
  struct memory* memory = map(bytes_for(workers));
  struct box* box = &memory->boxes[worker];
  struct frame frame;
  for (;;) {
    receive_at_worker(box, &frame);
    if (frame.number < 0) return 0;
    do_task(task_us);
    frame.answer = answer_to(frame.number);
    send_to_master(&memory->hub, box, worker, &frame);
  }
}

static void start_workers(char* program, unsigned workers, char* task_us) {
  for (unsigned i = 0; i < workers; ++i) {
    char number[16], count[16];
    snprintf(number, sizeof number, "%u", i);
    snprintf(count, sizeof count, "%u", workers);
    char* arguments[] = {program, "--worker", number, count, task_us, NULL};
    pid_t child;
    errno = posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ);
    if (errno) fail("posix_spawn");
  }
}

struct master {
  struct memory* memory;
  unsigned workers;
  int64_t *sent, *got;  // per worker
  long open, done, bad;
  double begin_s, seconds;
  double from_s, until_s;  // the measured time
  long from_done, until_done;
};

static void give(struct master* m, unsigned worker) {
  struct frame frame = {.number = m->sent[worker]++};
  send_to_worker(&m->memory->boxes[worker], &frame);
  ++m->open;
}

static void look_at_clock(struct master* m) {
  const double t = now_s();
  if (!m->from_s && t - m->begin_s > 0.3 * m->seconds) m->from_s = t, m->from_done = m->done;
  if (!m->until_s && t - m->begin_s > m->seconds) m->until_s = t, m->until_done = m->done;
}

static void receive_from(struct master* m, unsigned worker) {
  struct frame frame;
  while (take(&m->memory->boxes[worker].to_master, &frame)) {
    const int64_t expected = m->got[worker]++;
    m->bad += frame.number != expected || frame.answer != answer_to(expected);
    --m->open;
    if (++m->done % checks_per_clock == 0) look_at_clock(m);
    if (!m->until_s) give(m, worker);
  }
}

static bool receive_from_all(struct master* m) {
  bool any = false;
  for (unsigned i = 0; i * 64 < m->workers; ++i) {
    _Atomic uint64_t* ready = &m->memory->hub.ready[i];
    uint64_t bits = atomic_load_explicit(ready, memory_order_relaxed) ? atomic_exchange(ready, 0) : 0;
    for (; bits; bits &= bits - 1, any = true) receive_from(m, i * 64 + (unsigned)__builtin_ctzll(bits));
  }
  return any;
}

static double lone_task_s(long task_us) {
  enum { times = 20 };
  prctl(PR_SET_TIMERSLACK, 1);
  const double begin = now_s();
  for (int i = 0; i < times; ++i) do_task(task_us);
  return (now_s() - begin) / times;
}

int main(int argc, char** argv) {
  if (argc == 5 && !strcmp(argv[1], "--worker"))
    return work((unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]), atol(argv[4]));
  const int workers = argc == 5 ? atoi(argv[1]) : 0, prefetch = argc == 5 ? atoi(argv[4]) : 0;
  const double seconds = argc == 5 ? atof(argv[2]) : 0;
  const long task_us = argc == 5 ? atol(argv[3]) : -1;
  if (workers < 1 || workers > most_workers || seconds <= 0 || task_us < 0 || prefetch < 1 || prefetch > slots) {
    fprintf(stderr, "usage: bare_mailbox WORKERS(1-%d) SECONDS TASK_US PREFETCH(1-%d)\n", most_workers, slots);
    return 2;
  }
  const size_t bytes = bytes_for((unsigned)workers);
  const int made = memfd_create("bare_mailbox", 0);
  if (made < 0 || (made != memory_fd && dup2(made, memory_fd) < 0)) fail("memfd_create");
  if ((errno = posix_fallocate(memory_fd, 0, (off_t)bytes))) fail("posix_fallocate");

  const double lone_s = task_us ? lone_task_s(task_us) : 0;
  struct master m = {.memory = map(bytes), .workers = (unsigned)workers, .seconds = seconds};
  m.sent = calloc((size_t)workers, sizeof *m.sent);
  m.got = calloc((size_t)workers, sizeof *m.got);
  start_workers(argv[0], m.workers, argv[3]);
  m.begin_s = now_s();
  for (int k = 0; k < prefetch; ++k)
    for (unsigned w = 0; w < m.workers; ++w) give(&m, w);
  while (m.open > 0) {
    const uint32_t seen = atomic_load(&m.memory->hub.bell);
    if (!receive_from_all(&m)) sleep_at_master(&m.memory->hub, seen);
    if (task_us) look_at_clock(&m);
  }
  const struct frame end = {.number = -1};
  for (unsigned w = 0; w < m.workers; ++w) send_to_worker(&m.memory->boxes[w], &end);
  while (wait(NULL) > 0) continue;

  const double rate = (double)(m.until_done - m.from_done) / (m.until_s - m.from_s);
  printf("{\"items_per_s\": %.1f, \"bad\": %ld, \"efficiency\": %.4f, \"raw_efficiency\": %.4f, \"lone_ms\": %.4f}\n",
         rate, m.bad, rate * lone_s / workers, rate * (double)task_us * 1e-6 / workers, lone_s * 1e3);
  return m.bad != 0;
}
