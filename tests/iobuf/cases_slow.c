// Something happens while the library writes to the system.
#include "cases_slow.h"
#include "cases.h"
#include "cases_threads.h"

#include <time.h>

static atomic_int writes, may_continue;
static _Atomic uint64_t second_ms;

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void make_the_first_one_slow(void) {
  const uint64_t now = now_ms();
  const int number = ++writes;
  if (number == 2) second_ms = now;
  while (number == 1 && !may_continue) usleep(100);
}

/// With a short delay only.
void a_byte_is_not_early_after_a_slow_write(void) {
  const char* const delay = getenv("CULMEN_IOBUF_DELAY_MS");
  const int fd = make("a");
  if (delay == NULL || strlen(delay) > 3) return;
  before_pwrite = make_the_first_one_slow;
  MUST(write(fd, "1", 1) == 1);
  while (writes == 0) usleep(100);
  const uint64_t begun_ms = now_ms();
  while (now_ms() < begun_ms + 2) usleep(100);
  const uint64_t dirty_ms = now_ms();
  MUST(pwrite(fd, "2", 1, 1 << 20) == 1);  // into the next buffer
  may_continue = 1;
  while (second_ms == 0) usleep(100);
  MUST(second_ms - dirty_ms >= (uint64_t)atoi(delay) / 2);
}

static int shortened;

static void* write_to_it(void* nothing) {
  MUST(pwrite(shortened, "2", 1, 0) == 1);
  return nothing;
}

static void let_another_thread_write(void) {
  static atomic_int calls;
  if (++calls > 1) return;
  pthread_t thread;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 100;
  MUST(pthread_create(&thread, NULL, write_to_it, NULL) == 0);
  MUST(pthread_timedjoin_np(thread, NULL, &until) == 0);
}

/// It sends the bytes of the other files to the system. If it had locked its own file meanwhile, this would be the
/// wrong order of locks.
void an_open_that_shortens_a_file_locks_no_other_one(void) {
  shortened = make("a");
  MUST(write(make("b"), "1", 1) == 1);
  before_pwrite = let_another_thread_write;
  MUST(open("a", O_CREAT | O_TRUNC | O_RDWR, 0644) >= 0 && sees("b", "1") && sees("a", ""));
}
