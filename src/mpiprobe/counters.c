// What the process uses of the machine: time of processors, memory and, where the kernel lets it count them,
// instructions and cycles.
#define _GNU_SOURCE
#include <sys/resource.h>
#include <unistd.h>

#include "mpiprobe/record.h"
#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

static int instructions = -1, cycles = -1;

/// Also of threads that begin later. -1: the kernel or the machine has no such counter for users.
static int open_counter(uint64_t event) {
#if defined(__linux__)
  struct perf_event_attr attributes = {
      .type = PERF_TYPE_HARDWARE,
      .size = sizeof attributes,
      .config = event,
      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
      .inherit = 1,
      .exclude_kernel = 1,
      .exclude_hv = 1,
  };
  return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
#else
  (void)event;
  return -1;
#endif
}

void probe_begin_counters(void) {
#if defined(__linux__)
  if (instructions >= 0 || cycles >= 0) return;
  instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS);
  cycles = open_counter(PERF_COUNT_HW_CPU_CYCLES);
#endif
}

/// If counters share the hardware, each counts a part of the time only.
static uint64_t counted(int fd) {
  uint64_t value[3];  // the count, and for how long the counter was there and counted
  if (fd < 0 || read(fd, value, sizeof value) != (ssize_t)sizeof value || value[2] == 0) return 0;
  return value[1] == value[2] ? value[0] : (uint64_t)((double)value[0] * (double)value[1] / (double)value[2]);
}

static uint64_t nanoseconds(struct timeval t) { return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u; }

struct probe_use probe_used(void) {
  struct probe_use use = {0, 0, 0, counted(instructions), counted(cycles)};
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return use;
  use.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  use.preempted = (uint64_t)usage.ru_nivcsw;
  use.memory_kib = (uint64_t)usage.ru_maxrss;
  return use;
}
