// The resources that the process uses: CPU time and memory. If the kernel allows it, also instructions and cycles.
#define _GNU_SOURCE
#include <sys/resource.h>
#include <unistd.h>

#include "mpiprobe/record.h"
#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static int instructions = -1, cycles = -1, scalars = -1, vectors = -1, memory_cycles = -1;

/// Events of Intel's processors (Intel, perfmon event lists): FP_ARITH_INST_RETIRED, of all widths, and the execution
/// stalls while loads are outstanding, which has another number on each generation. 0: not known.
enum { scalar_event = 0x03c7, vector_event = 0xfcc7 };
static uint64_t memory_event(void) {
#if defined(__x86_64__)
  enum { broadwell = 0x060006a3, skylake = 0x140014a3, golden_cove = 0x050021a6 };
  static const struct {
    unsigned char model;
    uint64_t event;
  } known[] = {
      {0x3d, broadwell}, {0x47, broadwell}, {0x4f, broadwell}, {0x56, broadwell},   {0x4e, skylake},
      {0x5e, skylake},   {0x55, skylake},   {0x8e, skylake},   {0x9e, skylake},     {0xa5, skylake},
      {0xa6, skylake},   {0x7d, skylake},   {0x7e, skylake},   {0x6a, skylake},     {0x6c, skylake},
      {0xa7, skylake},   {0x8c, skylake},   {0x8d, skylake},   {0x8f, golden_cove}, {0xcf, golden_cove},
  };
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_INTEL_ebx) return 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (a >> 8 & 15) != 6) return 0;
  const unsigned model = (a >> 4 & 15) | (a >> 12 & 0xf0);
  for (unsigned k = 0; k < sizeof known / sizeof *known; ++k) {
    if (known[k].model == model) return known[k].event;
  }
#endif
  return 0;
}

/// A counter that also counts threads that begin later. -1 if the kernel or the machine has no such counter for users.
static int open_counter(uint32_t type, uint64_t event) {
#if defined(__linux__)
  struct perf_event_attr attributes = {
      .type = type,
      .size = sizeof attributes,
      .config = event,
      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
      .inherit = 1,
      .exclude_kernel = 1,
      .exclude_hv = 1,
  };
  return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
#else
  (void)type, (void)event;
  return -1;
#endif
}

void probe_begin_counters(void) {
#if defined(__linux__)
  if (instructions >= 0 || cycles >= 0) return;
  instructions = open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
  cycles = open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  const uint64_t event = memory_event();
  if (event == 0 || cycles < 0) return;
  scalars = open_counter(PERF_TYPE_RAW, scalar_event);
  vectors = open_counter(PERF_TYPE_RAW, vector_event);
  memory_cycles = open_counter(PERF_TYPE_RAW, event);
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
  struct probe_use use = {.instructions = counted(instructions),
                          .cycles = counted(cycles),
                          .scalars = counted(scalars),
                          .vectors = counted(vectors),
                          .memory_cycles = counted(memory_cycles)};
  struct rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0) return use;
  use.cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
  use.preempted = (uint64_t)usage.ru_nivcsw;
  use.memory_kib = (uint64_t)usage.ru_maxrss;
  return use;
}
