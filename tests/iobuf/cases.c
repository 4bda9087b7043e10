//   cases NAME
//
// Exit code 0: the case is as without a preloaded library.
#include "cases.h"
#include "cases_ended.h"
#include "cases_slow.h"
#include "cases_threads.h"
#include "cases_told.h"

#include <assert.h>
#include <execinfo.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/time.h>

enum { rounds = 16, piece = 1 << 20 };
static int shared_fd;
static pthread_barrier_t all_here;

static void* write_pieces(void* letter) {
  char* const bytes = malloc(piece);
  memset(bytes, (int)(intptr_t)letter, piece);
  pthread_barrier_wait(&all_here);
  for (int k = 0; k < rounds; ++k) MUST(write(shared_fd, bytes, piece) == piece);
  free(bytes);
  return NULL;
}
/// Large calls unlock the file while they write.
static void threads_share_an_offset(void) {
  pthread_t others[2];
  shared_fd = make("a");
  pthread_barrier_init(&all_here, NULL, 2);
  for (intptr_t k = 0; k < 2; ++k) pthread_create(&others[k], NULL, write_pieces, (void*)('a' + k));
  for (int k = 0; k < 2; ++k) pthread_join(others[k], NULL);
  MUST(lseek(shared_fd, 0, SEEK_CUR) == 2 * rounds * piece);
  MUST(close(shared_fd) == 0);
  static char all[2 * rounds * piece + 1];
  MUST(seen("a", all, sizeof all) == 2 * rounds * piece);
  long count = 0;
  for (size_t k = 0; k < sizeof all; ++k) count += all[k] == 'a';
  MUST(count == rounds * piece);
}

/// A child shares the offset: it begins where a whole call of the parent ended.
static void fork_waits_for_an_offset(void) {
  pthread_t other;
  shared_fd = make("a");
  pthread_barrier_init(&all_here, NULL, 2);
  pthread_create(&other, NULL, write_pieces, (void*)'a');
  pthread_barrier_wait(&all_here);
  for (int k = 0; k < 10; ++k) {
    const pid_t child = fork();
    if (child == 0) {
      MUST(lseek(shared_fd, 0, SEEK_CUR) % piece == 0);
      _exit(0);
    }
    int status = 0;
    MUST(waitpid(child, &status, 0) == child && status == 0);
  }
  pthread_join(other, NULL);
  MUST(lseek(shared_fd, 0, SEEK_END) == rounds * piece);
}

/// The system moves bytes from and to its own offset.
static void sendfile_between_writes(void) {
  const int from = make("from"), to = make("a");
  MUST(write(from, "0123456789", 10) == 10 && lseek(from, 2, SEEK_SET) == 2);
  MUST(write(to, "<", 1) == 1 && sendfile(to, from, NULL, 3) == 3 && write(to, ">", 1) == 1);
  char rest[20];
  MUST(read(from, rest, sizeof rest) == 5 && close(to) == 0);
  MUST(sees("a", "<234>"));
}

static void print_list(int fd, const char* format, ...) {
  va_list rest;
  va_start(rest, format);
  MUST(vdprintf(fd, format, rest) > 0);
  va_end(rest);
}
static void dprintf_between_writes(void) {
  const int fd = make("a");
  MUST(write(fd, "one ", 4) == 4 && dprintf(fd, "%s ", "two") == 4);
  print_list(fd, "%d ", 3);
  MUST(write(fd, "four", 4) == 4 && dprintf(fd, "%2000d", 5) == 2000 && close(fd) == 0);
  char bytes[4096];
  MUST(seen("a", bytes, sizeof bytes) == 14 + 2000);
  bytes[14] = '\0';
  MUST(strcmp(bytes, "one two 3 four") == 0);
}
static void backtrace_between_writes(void) {
  const int fd = make("a");
  void* places[4];
  MUST(write(fd, "begin\n", 6) == 6);
  backtrace_symbols_fd(places, backtrace(places, 4), fd);
  MUST(write(fd, "end\n", 4) == 4 && close(fd) == 0);
  char bytes[4096];
  MUST(seen("a", bytes, sizeof bytes) > 12);
  MUST(strncmp(bytes, "begin\n", 6) == 0 && strcmp(bytes + strlen(bytes) - 4, "end\n") == 0);
}

/// A standard stream that a program sends to a file calls the system past all libraries.
static void standard_streams_go_to_a_file(void) {
  const int fd = make("a");
  MUST(dup2(fd, 1) == 1 && close(fd) == 0);
  MUST(write(1, "one ", 4) == 4);
  printf("two ");
  fflush(stdout);
  MUST(write(1, "three", 5) == 5);
  MUST(sees("a", "one two three"));
}

/// The program is told that bytes are lost, whatever happens to the file meanwhile.
static void an_error_survives_a_lock(void) {
  const struct rlimit most = {10, 10};
  char bytes[100] = "";
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &most);
  const int fd = make("a");
  if (write(fd, bytes, sizeof bytes) == 10) return;  // at once
  flock(fd, LOCK_EX);
  MUST(fsync(fd) == -1 && errno == EFBIG && fsync(fd) == 0);
  const int other = make("b");
  MUST(write(other, bytes, sizeof bytes) == sizeof bytes);
  flock(other, LOCK_EX);
  MUST(pwrite(other, bytes, 5, 0) == -1 && errno == EFBIG && pwrite(other, bytes, 5, 0) == 5);
}

/// dup2 and freopen cannot tell it, but the next call can.
static void an_error_survives_other_descriptors(void) {
  const struct rlimit most = {10, 10};
  char bytes[100] = "";
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &most);
  const int fd = make("a"), second = dup(fd), third = open("a", O_WRONLY);
  if (write(fd, bytes, sizeof bytes) == 10) return;  // at once
  MUST(dup2(STDIN_FILENO, second) == second && dup2(STDIN_FILENO, third) == third);
  MUST(fsync(fd) == -1 && errno == EFBIG && fsync(fd) == 0);
  const int other = make("b");
  FILE* const stream = fdopen(open("b", O_RDWR), "r+");
  MUST(stream != NULL && write(other, bytes, sizeof bytes) == 10);
  const int last = make("c");
  FILE* const empty = fopen("d", "w");
  MUST(write(last, bytes, sizeof bytes) == sizeof bytes && empty != NULL);
  MUST(freopen("c", "r+", empty) != NULL && freopen("d", "w", empty) != NULL);
  MUST(close(last) == -1 && errno == EFBIG);
}

static void an_append_that_fails_moves_no_offset(void) {
  const struct rlimit most = {10, 10};
  char bytes[10] = "";
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &most);
  const int fd = open("a", O_CREAT | O_RDWR | O_APPEND, 0644);
  MUST(pwrite(fd, bytes, 10, 0) == 10 && lseek(fd, 3, SEEK_SET) == 3);
  MUST(write(fd, bytes, 1) == -1 && errno == EFBIG && lseek(fd, 0, SEEK_CUR) == 3);
}

static void a_lock_ends_by_close(void) {
  const int lock = make("lock"), fd = make("a");
  flock(lock, LOCK_EX);
  MUST(write(fd, "1", 1) == 1 && close(lock) == 0);
  MUST(sees("a", "1"));
  const int second = make("lock");
  FILE* const stream = fdopen(second, "r+");
  MUST(write(fd, "2", 1) == 1 && fclose(stream) == 0);
  MUST(sees("a", "12"));
}

static void a_flag_file_tells_others(void) {
  const int fd = make("a");
  MUST(write(fd, "1", 1) == 1 && close(open("flag", O_CREAT | O_WRONLY, 0644)) == 0);
  MUST(sees("a", "1") && write(fd, "2", 1) == 1 && fclose(fopen("other", "w")) == 0);
  MUST(sees("a", "12") && write(fd, "3", 1) == 1 && mkfifo("pipe", 0600) == 0);
  MUST(sees("a", "123"));
  char name[] = "nameXXXXXX";
  MUST(write(fd, "4", 1) == 1 && mkstemp(name) >= 0 && sees("a", "1234"));
}

static int end_of_child(void (*run)(void)) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    MUST(dup2(open("/dev/null", O_WRONLY), 2) == 2);
    run();
    _exit(1);
  }
  MUST(waitpid(child, &status, 0) == child);
  return status;
}
static void fail_an_assertion(void) {
  MUST(write(make("a"), "last words", 10) == 10);
  assert(shared_fd == -2);
}
static void write_in_handler(int signal_number) {
  (void)signal_number;
  MUST(write(shared_fd, " and more", 9) == 9);
}
static void abort_with_a_handler(void) {
  signal(SIGABRT, write_in_handler);
  shared_fd = make("a");
  MUST(write(shared_fd, "last words", 10) == 10);
  abort();
}
static void the_program_aborts(void) {
  MUST(WIFSIGNALED(end_of_child(fail_an_assertion)) && sees("a", "last words"));
  MUST(WIFSIGNALED(end_of_child(abort_with_a_handler)) && sees("a", "last words and more"));
}

/// A child that no handler of pthread_atfork sees has old bytes in its memory.
static void fork_by(pid_t (*way)(void), const char* name) {
  const int fd = make(name);
  MUST(write(fd, "old", 3) == 3);
  int ends[2], status;
  MUST(pipe2(ends, O_CLOEXEC) == 0);
  const pid_t child = way();
  if (child == 0) {
    char byte;
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 0) _exit(1);
    exit(0);
  }
  MUST(pwrite(fd, "new", 3, 0) == 3 && fsync(fd) == 0);
  close(ends[1]);
  MUST(waitpid(child, &status, 0) == child && status == 0);
  MUST(sees(name, "new"));
  close(fd);
}
static pid_t fork_by_number(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L); }
static void a_child_writes_no_old_bytes(void) {
  fork_by(_Fork, "a");
  fork_by(fork_by_number, "b");
}

static void* look_at(void* file) { return file; }
/// The process ends when its last own thread does.
static void leave_the_main_thread(void) {
  MUST(write(make("a"), "1", 1) == 1);
  pthread_exit(NULL);
}
static void the_main_thread_ends_first(void) {
  pthread_t other;
  MUST(pthread_create(&other, NULL, look_at, NULL) == 0 && pthread_join(other, NULL) == 0);
  MUST(close(make("b")) == 0);
  MUST(end_of_child(leave_the_main_thread) == 0);
  MUST(sees("a", "1"));
}

static volatile sig_atomic_t handled;
static void write_letter(int signal_number) {
  (void)signal_number;
  handled += write(shared_fd, "H", 1) == 1;
}
/// It interrupts other writes, in the middle, too.
static void a_handler_writes(void) {
  const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  static char dots[100], all[16 << 20];
  memset(dots, '.', sizeof dots);
  shared_fd = make("a");
  signal(SIGALRM, write_letter);
  setitimer(ITIMER_REAL, &often, NULL);
  enum { calls = 100000 };
  for (int k = 0; k < calls; ++k) MUST(write(shared_fd, dots, sizeof dots) == sizeof dots);
  setitimer(ITIMER_REAL, &never, NULL);
  MUST(close(shared_fd) == 0);
  const long n = seen("a", all, sizeof all);
  MUST(n == calls * (long)sizeof dots + handled);
  long letters = 0, whole = 0, row = 0;
  for (long k = 0; k < n; ++k) {
    letters += all[k] == 'H';
    row = all[k] == '.' ? row + 1 : 0;
    whole += row == sizeof dots;
    if (row == sizeof dots) row = 0;
  }
  MUST(letters == handled && whole == calls);
}

enum { most_closed = 50 };
static int to_close[most_closed];
static volatile sig_atomic_t closed;
static void write_and_close(int signal_number) {
  (void)signal_number;
  if (closed == most_closed) return;
  const int fd = to_close[closed];
  MUST(write(fd, "1", 1) == 1 && write(fd, "2", 1) == 1 && close(fd) == 0);
  ++closed;
}
static void a_handler_closes(void) {
  const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  char name[16];
  shared_fd = make("a");
  for (int k = 0; k < most_closed; ++k) {
    snprintf(name, sizeof name, "closed%d", k);
    to_close[k] = make(name);
  }
  signal(SIGALRM, write_and_close);
  setitimer(ITIMER_REAL, &often, NULL);
  while (closed < most_closed) MUST(pwrite(shared_fd, name, sizeof name, 16 * closed) == sizeof name);
  setitimer(ITIMER_REAL, &never, NULL);
  MUST(write(shared_fd, name, sizeof name) == sizeof name);
  for (int k = 0; k < most_closed; ++k) {
    snprintf(name, sizeof name, "closed%d", k);
    MUST(fcntl(to_close[k], F_GETFD) == -1 && sees(name, "12"));
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
#define CASE(name) \
  { #name, name }
    CASE(threads_share_an_offset),
    CASE(fork_waits_for_an_offset),
    CASE(sendfile_between_writes),
    CASE(dprintf_between_writes),
    CASE(backtrace_between_writes),
    CASE(standard_streams_go_to_a_file),
    CASE(an_error_survives_a_lock),
    CASE(an_error_survives_other_descriptors),
    CASE(an_append_that_fails_moves_no_offset),
    CASE(a_lock_ends_by_close),
    CASE(a_flag_file_tells_others),
    CASE(the_program_aborts),
    CASE(a_child_writes_no_old_bytes),
    CASE(the_main_thread_ends_first),
    CASE(a_handler_writes),
    CASE(a_handler_closes),
    CASE(other_names_are_the_same_calls),
    CASE(messages_tell_others),
    CASE(a_descriptor_comes_in_a_message),
    CASE(a_descriptor_is_inherited),
    CASE(a_descriptor_was_inherited),
    CASE(a_coarse_clock_hides_a_change),
    CASE(a_byte_waits_no_longer_than_the_delay),
    CASE(a_byte_is_not_early_after_a_slow_write),
    CASE(an_open_that_shortens_a_file_locks_no_other_one),
    CASE(a_thread_reads_while_another_one_forks),
    CASE(a_thread_reads_while_another_one_maps),
    CASE(a_thread_reads_while_another_one_locks),
    CASE(a_thread_writes_while_another_one_forks),
    CASE(a_thread_writes_while_another_one_sets_flags),
    CASE(a_fork_does_not_wait_for_a_pause),
    CASE(a_handler_ends_the_program),
    CASE(a_handler_writes_and_ends_the_program),
    CASE(a_handler_raises_its_signal_again),
    CASE(a_handler_aborts_beside_other_threads),
    CASE(two_threads_end_the_program),
};

int main(int count, char** words) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    if (count == 2 && strcmp(words[1], cases[k].name) == 0) {
      cases[k].run();
      return 0;
    }
  }
  return 2;
}
