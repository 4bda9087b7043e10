// Which process the buffers belong to. A child of clone, or of a system call by its number, has a copy of them. Its
// bytes are the parent's, who writes them.
#define _GNU_SOURCE
#include <sched.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

static int unknown = 1;
int* iobuf_is_owner = &unknown;  // Linux makes it 0 in a child

void iobuf_begin_owner(void) {
  const long at = syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == -1) return;
  if (syscall(SYS_madvise, at, 4096, MADV_WIPEONFORK) == 0) iobuf_is_owner = (int*)at;
  *iobuf_is_owner = 1;
}

static void adopt(struct iobuf_file* file) {
  iobuf_reset_locks(file);
  file->dirty = file->has = 0;
  for (struct iobuf_description* d = file->descriptions; d != NULL; d = d->next) {
    if (file->aside == 0 && !d->foreign) iobuf_sys_lseek(d->fd, d->offset, SEEK_SET);
  }
  if (file->live && file->aside == 0) file->aside = iobuf_by_process;
}

void iobuf_become_owner(void) {
  *iobuf_is_owner = 1;
  for (unsigned k = 0; k < iobuf_files_used; ++k) adopt(&iobuf_files[k]);
  iobuf_dirty_files = 0;
  iobuf_reset_table_lock();
  iobuf_unlock_jobs(1);
  iobuf_begin_child();
}

/// It calls no handlers of pthread_atfork.
IOBUF_PUBLIC pid_t _Fork(void) {
  iobuf_before_fork();
  const pid_t child = REAL(_Fork)();
  iobuf_after_fork(child == 0);
  return child;
}

/// A child with memory of its own begins in another function.
IOBUF_PUBLIC int clone(int (*run)(void*), void* stack, int flags, void* argument, ...) {
  va_list rest;
  va_start(rest, argument);
  pid_t* const parent = va_arg(rest, pid_t*);
  void* const tls = va_arg(rest, void*);
  pid_t* const child = va_arg(rest, pid_t*);
  va_end(rest);
  if ((flags & CLONE_VM) == 0) iobuf_step_all_aside(iobuf_by_process);
  return REAL(clone)(run, stack, flags, argument, parent, tls, child);
}
