// One thread reads or writes a file by its offset, while another one makes the file step aside.
#include "cases_threads.h"
#include "cases.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/mman.h>

enum { records = 8000, record = 64, rounds = 40 };
static int fd;
static atomic_int begun, slow;
void (*_Atomic before_pwrite)(void);

/// The library reads and writes by it. A slow disk makes threads wait in the library.
long syscall(long number, ...) {
  long words[6];
  va_list rest;
  va_start(rest, number);
  for (int k = 0; k < 6; ++k) words[k] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_pwrite64 && before_pwrite != NULL) before_pwrite();
  if (slow && (number == SYS_pread64 || number == SYS_pwrite64)) usleep(300);
  long (*const real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return real(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

static void* read_all(void* nothing) {
  char bytes[record];
  for (int k = 0, got = -1; k < records; ++k, begun = k) {
    MUST(read(fd, bytes, record) == record);
    memcpy(&got, bytes, sizeof got);
    MUST(got == k);
  }
  return nothing;
}

static void* write_all(void* nothing) {
  char bytes[record] = "";
  for (int k = 0; k < records; ++k, begun = k) {
    memcpy(bytes, &k, sizeof k);
    MUST(write(fd, bytes, record) == record);
  }
  return nothing;
}

/// The child uses the file, too.
static void fork_once(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    MUST(lseek(fd, 0, SEEK_CUR) % record == 0 && close(fd) == 0);
    _exit(0);
  }
  MUST(waitpid(child, &status, 0) == child && status == 0);
}

static void map_once(void) {
  void* const at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  MUST(at != MAP_FAILED && munmap(at, 4096) == 0);
}

static void lock_once(void) { MUST(flock(fd, LOCK_SH) == 0 && flock(fd, LOCK_UN) == 0); }

static void set_flags(void) {
  for (int k = 0; k < 20; ++k) MUST(fcntl(fd, F_SETFL, k % 2 == 0 ? O_APPEND : 0) == 0);
}

static void meanwhile(void* (*run)(void*), void (*other)(void), int round) {
  pthread_t thread;
  begun = 0;
  slow = 1;
  MUST(pthread_create(&thread, NULL, run, NULL) == 0);
  while (begun < 1 + round * records / rounds / 2) {
  }
  other();
  slow = 0;
  MUST(pthread_join(thread, NULL) == 0 && close(fd) == 0);
}

static void read_while(void (*other)(void)) {
  fd = make("a");
  write_all(NULL);
  MUST(close(fd) == 0);
  for (int k = 0; k < rounds; ++k) {
    fd = open("a", O_RDONLY);
    meanwhile(read_all, other, k);
  }
}
static void write_while(void (*other)(void)) {
  for (int k = 0; k < rounds; ++k) {
    fd = make("a");
    meanwhile(write_all, other, k);
    fd = open("a", O_RDONLY);
    MUST(lseek(fd, 0, SEEK_END) == (off_t)records * record && lseek(fd, 0, SEEK_SET) == 0);
    read_all(NULL);
    MUST(close(fd) == 0);
  }
}

void a_thread_reads_while_another_one_forks(void) { read_while(fork_once); }
void a_thread_reads_while_another_one_maps(void) { read_while(map_once); }
void a_thread_reads_while_another_one_locks(void) { read_while(lock_once); }
void a_thread_writes_while_another_one_forks(void) { write_while(fork_once); }
void a_thread_writes_while_another_one_sets_flags(void) { write_while(set_flags); }

static atomic_int ended;
static void* write_for_ever(void* bytes) {
  while (!ended) MUST(write(fd, bytes, 1 << 20) == 1 << 20 && lseek(fd, 0, SEEK_SET) == 0 && ++begun > 0);
  return NULL;
}
/// Calls of other threads, which are large here, follow each other without a pause.
void a_fork_does_not_wait_for_a_pause(void) {
  static char bytes[2][1 << 20];
  pthread_t threads[2];
  fd = make("a");
  for (int k = 0; k < 2; ++k) MUST(pthread_create(&threads[k], NULL, write_for_ever, bytes[k]) == 0);
  while (begun < 2) {
  }
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ended = 1;
  MUST(waitpid(child, NULL, 0) == child);
  for (int k = 0; k < 2; ++k) MUST(pthread_join(threads[k], NULL) == 0);
}
