// Other processes: before they can look at a file, it has all bytes. Files that they share are not buffered.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "iobuf/iobuf.h"

extern char** environ;

// Messages: pipes, sockets and devices.
enum { kind_unknown, kind_file, kind_message };
static unsigned char kinds[iobuf_most_fds];

int iobuf_is_message(int fd) {
  if ((unsigned)fd >= iobuf_most_fds || iobuf_slots[fd] != NULL) return 0;
  if (kinds[fd] == kind_unknown) {
    struct stat st;
    const int error = errno, known = iobuf_sys_fstat(fd, &st) == 0;
    errno = error;
    if (!known) return 0;
    kinds[fd] = S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? kind_file : kind_message;
  }
  return kinds[fd] == kind_message;
}
void iobuf_forget_kind(int fd) {
  if ((unsigned)fd < iobuf_most_fds) kinds[fd] = kind_unknown;
}
void iobuf_told(int fd) {
  if (iobuf_dirty_files > 0 && iobuf_is_message(fd)) iobuf_publish();
}

// The end.
static atomic_int written;  // all files have their bytes
static __thread int ends __attribute__((tls_model("initial-exec")));

/// Another thread ends the program. It still writes, and the end of this thread would end it, too. If it makes no
/// progress, it may wait for what a signal handler of this thread has interrupted.
static void wait_for_the_end(void) {
  enum { longest_ms = 5000 };
  const struct timespec ms = {0, 1000000};
  unsigned left = iobuf_dirty_files;
  for (int waited_ms = 0; !written && waited_ms < longest_ms; ++waited_ms) {
    nanosleep(&ms, NULL);
    if (iobuf_dirty_files == left) continue;
    left = iobuf_dirty_files;
    waited_ms = 0;
  }
}
void iobuf_end(void) {
  iobuf_check_owner();
  if (ends) return;
  ends = 1;
  const int other = atomic_exchange(&iobuf_off, 1);
  if (iobuf_inside != 0) {
    iobuf_end_inside();
    written = 1;
    return;
  }
  if (other) {
    wait_for_the_end();
    return;
  }
  iobuf_step_all_aside(iobuf_by_other);
  written = 1;
  iobuf_print_errors();
  iobuf_write_report();
}
__attribute__((destructor)) static void at_end(void) { iobuf_end(); }
IOBUF_PUBLIC void _exit(int code) {
  iobuf_end();
  REAL(_exit)(code);
  __builtin_unreachable();
}
IOBUF_PUBLIC void _Exit(int code) { _exit(code); }
// Writes of a handler of their signal are not buffered either.
#define ENDS(name, parameters, arguments) \
  void name parameters;                   \
  IOBUF_PUBLIC void name parameters {     \
    iobuf_end();                          \
    REAL(name) arguments;                 \
    __builtin_unreachable();              \
  }
ENDS(quick_exit, (int code), (code))
ENDS(abort, (void), ())
// The C library aborts inside itself then.
ENDS(__assert_fail, (const char* text, const char* path, unsigned line, const char* in), (text, path, line, in))
ENDS(__assert_perror_fail, (int error, const char* path, unsigned line, const char* in), (error, path, line, in))
ENDS(__assert, (const char* text, const char* path, int line), (text, path, line))
ENDS(__stack_chk_fail, (void), ())
ENDS(__chk_fail, (void), ())

// Children share the offsets of open files.
static __thread int forked_inside;
void iobuf_before_fork(void) {
  forked_inside = iobuf_inside != 0;  // a signal handler that has interrupted this library
  if (!forked_inside) iobuf_lock_all();
}
void iobuf_after_fork(int in_child) {
  if (in_child) *iobuf_is_owner = !forked_inside;
  if (!forked_inside) iobuf_unlock_all(in_child);
  if (in_child) iobuf_begin_child();
}
/// The thread that ends the parent is not in the child, which has nothing to write.
void iobuf_begin_child(void) {
  written = iobuf_off;
  iobuf_reset_counts();
}
static void in_parent(void) { iobuf_after_fork(0); }
static void in_child(void) { iobuf_after_fork(1); }
static void begin_once(void) {
  iobuf_read_settings();
  iobuf_begin_owner();
  iobuf_begin_mappings();
  pthread_atfork(iobuf_before_fork, in_parent, in_child);
  iobuf_add_open_descriptors();
}
/// Constructors of other libraries can open files before ours runs.
void iobuf_begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  static __thread int begins __attribute__((tls_model("initial-exec")));
  if (begins) return;
  begins = 1;
  pthread_once(&once, begin_once);
  begins = 0;
}
__attribute__((constructor)) static void begin(void) { iobuf_begin(); }

/// The child of vfork would change our tables, which it shares. POSIX allows it to be a fork.
IOBUF_PUBLIC pid_t vfork(void) { return fork(); }

// glibc has had it only since 2.34.
int execveat(int folder, const char* path, char* const words[], char* const environment[], int flags);
static void before_program(void) { iobuf_step_all_aside(iobuf_by_process); }
static void before_exec(void) {
  before_program();
  iobuf_print_errors();
  iobuf_write_report();
}
IOBUF_PUBLIC int execve(const char* path, char* const words[], char* const environment[]) {
  before_exec();
  return REAL(execve)(path, words, environment);
}
IOBUF_PUBLIC int execv(const char* path, char* const words[]) { return execve(path, words, environ); }
IOBUF_PUBLIC int execvpe(const char* name, char* const words[], char* const environment[]) {
  before_exec();
  return REAL(execvpe)(name, words, environment);
}
IOBUF_PUBLIC int execvp(const char* name, char* const words[]) { return execvpe(name, words, environ); }
IOBUF_PUBLIC int fexecve(int fd, char* const words[], char* const environment[]) {
  before_exec();
  return REAL(fexecve)(fd, words, environment);
}
IOBUF_PUBLIC int execveat(int folder, const char* path, char* const words[], char* const environment[], int flags) {
  before_exec();
  return REAL(execveat)(folder, path, words, environment, flags);
}
#define WORDS(first, rest, words)               \
  va_list rest;                                 \
  size_t count_ = 1;                            \
  va_start(rest, first);                        \
  while (va_arg(rest, char*) != NULL) ++count_; \
  va_end(rest);                                 \
  char* words[count_ + 1];                      \
  va_start(rest, first);                        \
  words[0] = (char*)first;                      \
  for (size_t k_ = 1; k_ <= count_; ++k_) words[k_] = va_arg(rest, char*)
IOBUF_PUBLIC int execl(const char* path, const char* first, ...) {
  WORDS(first, rest, words);
  va_end(rest);
  return execve(path, words, environ);
}
IOBUF_PUBLIC int execlp(const char* name, const char* first, ...) {
  WORDS(first, rest, words);
  va_end(rest);
  return execvpe(name, words, environ);
}
IOBUF_PUBLIC int execle(const char* path, const char* first, ...) {
  WORDS(first, rest, words);
  char** const environment = va_arg(rest, char**);
  va_end(rest);
  return execve(path, words, environment);
}
IOBUF_PUBLIC int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes, char* const words[], char* const environment[]) {
  before_program();
  return REAL(posix_spawn)(child, path, actions, attributes, words, environment);
}
IOBUF_PUBLIC int posix_spawnp(pid_t* child, const char* name, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const words[], char* const environment[]) {
  before_program();
  return REAL(posix_spawnp)(child, name, actions, attributes, words, environment);
}
IOBUF_PUBLIC int system(const char* command) {
  before_program();
  const int result = REAL(system)(command);
  iobuf_heard();
  return result;
}
IOBUF_PUBLIC FILE* popen(const char* command, const char* mode) {
  before_program();
  return REAL(popen)(command, mode);
}
IOBUF_PUBLIC int pclose(FILE* stream) {
  const int result = REAL(pclose)(stream);
  iobuf_heard();
  return result;
}

// Who has waited for a process knows that it has written.
#define HEARD(call)       \
  const int found = call; \
  iobuf_heard();          \
  return found
IOBUF_PUBLIC pid_t wait(int* status) { HEARD(REAL(wait)(status)); }
IOBUF_PUBLIC pid_t waitpid(pid_t pid, int* status, int options) { HEARD(REAL(waitpid)(pid, status, options)); }
IOBUF_PUBLIC pid_t wait3(int* status, int options, struct rusage* usage) { HEARD(REAL(wait3)(status, options, usage)); }
IOBUF_PUBLIC pid_t wait4(pid_t pid, int* status, int options, struct rusage* usage) {
  HEARD(REAL(wait4)(pid, status, options, usage));
}
IOBUF_PUBLIC int waitid(idtype_t kind, id_t id, siginfo_t* info, int options) {
  HEARD(REAL(waitid)(kind, id, info, options));
}

// Calls through which another process can learn that bytes were written, or that depend on it.
#define PUBLISHES(name, parameters, arguments) \
  IOBUF_PUBLIC int name parameters {           \
    iobuf_publish();                           \
    return REAL(name) arguments;               \
  }
PUBLISHES(kill, (pid_t pid, int signal), (pid, signal))
PUBLISHES(killpg, (pid_t group, int signal), (group, signal))
PUBLISHES(raise, (int signal), (signal))
PUBLISHES(sigqueue, (pid_t pid, int signal, const union sigval value), (pid, signal, value))
PUBLISHES(rename, (const char* from, const char* to), (from, to))
PUBLISHES(renameat, (int a, const char* from, int b, const char* to), (a, from, b, to))
PUBLISHES(renameat2, (int a, const char* from, int b, const char* to, unsigned flags), (a, from, b, to, flags))
PUBLISHES(link, (const char* from, const char* to), (from, to))
PUBLISHES(linkat, (int a, const char* from, int b, const char* to, int flags), (a, from, b, to, flags))
PUBLISHES(symlink, (const char* text, const char* to), (text, to))
PUBLISHES(symlinkat, (const char* text, int folder, const char* to), (text, folder, to))
PUBLISHES(unlink, (const char* path), (path))
PUBLISHES(unlinkat, (int folder, const char* path, int flags), (folder, path, flags))
PUBLISHES(remove, (const char* path), (path))
PUBLISHES(mkdir, (const char* path, mode_t mode), (path, mode))
PUBLISHES(mkdirat, (int folder, const char* path, mode_t mode), (folder, path, mode))
PUBLISHES(mknod, (const char* path, mode_t mode, dev_t device), (path, mode, device))
PUBLISHES(mknodat, (int folder, const char* path, mode_t mode, dev_t device), (folder, path, mode, device))
PUBLISHES(mkfifo, (const char* path, mode_t mode), (path, mode))
PUBLISHES(mkfifoat, (int folder, const char* path, mode_t mode), (folder, path, mode))
PUBLISHES(rmdir, (const char* path), (path))
// Writing after these would undo them.
PUBLISHES(chmod, (const char* path, mode_t mode), (path, mode))
PUBLISHES(fchmod, (int fd, mode_t mode), (fd, mode))
PUBLISHES(fchmodat, (int folder, const char* path, mode_t mode, int flags), (folder, path, mode, flags))
PUBLISHES(chown, (const char* path, uid_t user, gid_t group), (path, user, group))
PUBLISHES(lchown, (const char* path, uid_t user, gid_t group), (path, user, group))
PUBLISHES(fchown, (int fd, uid_t user, gid_t group), (fd, user, group))
PUBLISHES(fchownat, (int folder, const char* path, uid_t u, gid_t g, int flags), (folder, path, u, g, flags))
PUBLISHES(setxattr, (const char* p, const char* name, const void* v, size_t n, int f), (p, name, v, n, f))
PUBLISHES(lsetxattr, (const char* p, const char* name, const void* v, size_t n, int f), (p, name, v, n, f))
PUBLISHES(fsetxattr, (int fd, const char* name, const void* v, size_t n, int f), (fd, name, v, n, f))
PUBLISHES(utime, (const char* path, const struct utimbuf* times), (path, times))
PUBLISHES(utimes, (const char* path, const struct timeval times[2]), (path, times))
PUBLISHES(lutimes, (const char* path, const struct timeval times[2]), (path, times))
PUBLISHES(futimes, (int fd, const struct timeval times[2]), (fd, times))
PUBLISHES(futimesat, (int folder, const char* path, const struct timeval times[2]), (folder, path, times))
PUBLISHES(utimensat, (int folder, const char* path, const struct timespec times[2], int f), (folder, path, times, f))
PUBLISHES(futimens, (int fd, const struct timespec times[2]), (fd, times))
