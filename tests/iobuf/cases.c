//   cases NAME
//
// Exit code 0: the case is as without a preloaded library.
#include "cases.h"

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

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(threads_share_an_offset),
    CASE(fork_waits_for_an_offset),
    CASE(sendfile_between_writes),
    CASE(dprintf_between_writes),
    CASE(backtrace_between_writes),
    CASE(standard_streams_go_to_a_file),
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
