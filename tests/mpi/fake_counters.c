// Preloaded: instead of instructions and cycles, which few virtual machines count, the kernel counts
// nanoseconds of the processors. So the program runs one "instruction" per "cycle".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

long syscall(long number, ...) {
  long a[6];
  va_list words;
  va_start(words, number);
  for (int k = 0; k < 6; ++k) a[k] = va_arg(words, long);
  va_end(words);
  if (number == SYS_perf_event_open) {
    struct perf_event_attr* const wanted = (struct perf_event_attr*)a[0];
    wanted->type = PERF_TYPE_SOFTWARE;
    wanted->config = wanted->config == PERF_COUNT_HW_INSTRUCTIONS ? PERF_COUNT_SW_TASK_CLOCK : PERF_COUNT_SW_CPU_CLOCK;
  }
  long (*const real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/// Whether the kernel lets this user count.
int can_count(void) {
  struct perf_event_attr wanted = {
      .type = PERF_TYPE_SOFTWARE, .size = sizeof wanted, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
  const long fd = syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
  if (fd >= 0) close((int)fd);
  return fd >= 0;
}
