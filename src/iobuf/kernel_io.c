// Libraries that give reads and writes to the system in other ways: libaio and liburing. Programs that do so without a
// library are not seen.
#define _GNU_SOURCE
#include "iobuf/iobuf.h"

struct control {  // struct iocb of Linux
  uint64_t data;
  uint32_t key, flags;
  uint16_t code, priority;
  uint32_t fd;
};
int io_submit(void* context, long count, struct control** list);
IOBUF_PUBLIC int io_submit(void* context, long count, struct control** list) {
  for (long k = 0; k < count; ++k) iobuf_step_aside_fd((int)list[k]->fd, iobuf_by_other);
  return REAL(io_submit)(context, count, list);
}

/// A ring can be used with any file afterwards: nothing is buffered from now on.
static void stop(void) {
  iobuf_stopped = 1;
  iobuf_step_all_aside(iobuf_by_other);
}
int io_uring_queue_init(unsigned entries, void* ring, unsigned flags);
int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters);
int io_uring_queue_init_mem(unsigned entries, void* ring, void* parameters, void* memory, size_t bytes);
IOBUF_PUBLIC int io_uring_queue_init(unsigned entries, void* ring, unsigned flags) {
  stop();
  return REAL(io_uring_queue_init)(entries, ring, flags);
}
IOBUF_PUBLIC int io_uring_queue_init_params(unsigned entries, void* ring, void* parameters) {
  stop();
  return REAL(io_uring_queue_init_params)(entries, ring, parameters);
}
IOBUF_PUBLIC int io_uring_queue_init_mem(unsigned entries, void* ring, void* parameters, void* memory, size_t bytes) {
  stop();
  return REAL(io_uring_queue_init_mem)(entries, ring, parameters, memory, bytes);
}
