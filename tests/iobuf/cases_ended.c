// A signal handler ends the program, in the middle of a write, too.
#include "cases_ended.h"
#include "cases.h"

#include <sys/mman.h>
#include <sys/time.h>

enum { rounds = 60, record = 64, most_threads = 3 };
static struct {
  volatile long whole[most_threads];  // writes that have returned before the signal came
  volatile long now[most_threads];
}* shared;
static int fds[most_threads];
static int says_more, killed;

static void note(void) {
  for (int k = 0; k < most_threads; ++k) shared->whole[k] = shared->now[k];
}
static void end_at_once(int signal_number) {
  (void)signal_number;
  note();
  if (says_more && write(fds[0], "end", 3) != 3) _exit(1);
  _exit(0);
}
static void end_by_abort(int signal_number) {
  (void)signal_number;
  note();
  abort();
}

static void end_by_the_signal(int signal_number) {
  note();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void* write_records(void* at) {
  const int k = (int)(intptr_t)at;
  char bytes[record];
  memset(bytes, 'a' + k, sizeof bytes);
  while (write(fds[k], bytes, record) == record) ++shared->now[k];
  return NULL;
}

static void run_child(int round, int threads, void (*handler)(int)) {
  const struct itimerval once = {{0, 0}, {0, 2000 + round * 37}};
  char name[2] = "a";
  for (int k = 0; k < threads; ++k, ++name[0]) fds[k] = make(name);
  signal(SIGALRM, handler);
  setitimer(ITIMER_REAL, &once, NULL);
  pthread_t other;
  for (intptr_t k = 1; k < threads; ++k) pthread_create(&other, NULL, write_records, (void*)k);
  write_records(NULL);
}

/// Everything that the program had written is there, and nothing else.
static void check_file(char letter, long whole) {
  static char bytes[64 << 20];
  const char name[2] = {letter, '\0'};
  long n = seen(name, bytes, sizeof bytes);
  MUST(n >= whole * record);
  if (says_more) {
    MUST(n >= 3 && memcmp(bytes + n - 3, "end", 3) == 0);
    n -= 3;
  }
  // The default action of a signal can end other threads in the middle of later writes.
  const long checked = killed ? whole * record : n;
  for (long k = 0; k < checked; ++k) MUST(bytes[k] == letter);
}

static void end_in(int threads, void (*handler)(int)) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int round = 0; round < rounds; ++round) {
    int status = -1;
    memset((void*)shared, 0, sizeof *shared);
    const pid_t child = fork();
    if (child == 0) run_child(round, threads, handler);
    MUST(waitpid(child, &status, 0) == child);
    MUST(handler == end_at_once ? status == 0 : WIFSIGNALED(status));
    for (int k = 0; k < threads; ++k) check_file((char)('a' + k), shared->whole[k]);
  }
}

void a_handler_ends_the_program(void) { end_in(1, end_at_once); }
void a_handler_writes_and_ends_the_program(void) {
  says_more = 1;
  end_in(1, end_at_once);
}
void a_handler_raises_its_signal_again(void) {
  killed = 1;
  end_in(most_threads, end_by_the_signal);
}
void a_handler_aborts_beside_other_threads(void) { end_in(most_threads, end_by_abort); }

enum { most_files = 300, in_a_file = 4000 };
static void* leave(void* unused) {
  (void)unused;
  exit(0);
}
static void end_in_two_threads(useconds_t later) {
  static char bytes[in_a_file];
  memset(bytes, 'x', sizeof bytes);
  for (int k = 0; k < most_files; ++k) {
    char name[16];
    snprintf(name, sizeof name, "e%d", k);
    if (write(make(name), bytes, in_a_file) != in_a_file) _exit(1);
  }
  pthread_t other;
  pthread_create(&other, NULL, leave, NULL);
  usleep(later);
  _exit(0);
}

/// The one that comes second must not end the one that still writes.
void two_threads_end_the_program(void) {
  static char bytes[in_a_file + 1];
  for (useconds_t later = 0; later <= 3000; later += 250) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) end_in_two_threads(later);
    MUST(waitpid(child, &status, 0) == child && status == 0);
    for (int k = 0; k < most_files; ++k) {
      char name[16];
      snprintf(name, sizeof name, "e%d", k);
      MUST(seen(name, bytes, sizeof bytes) == in_a_file);
      MUST(unlink(name) == 0);
    }
  }
}
