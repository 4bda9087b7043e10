// Which descriptor leads to which open file description, and which of those to which inode. Memory of descriptions and
// files is used again but never given back, so that a thread may look at one that another thread has just closed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

enum { chains = 1024 };

_Atomic(struct iobuf_description*) iobuf_slots[iobuf_most_fds];
struct iobuf_file iobuf_files[iobuf_most_files];
atomic_uint iobuf_files_used, iobuf_dirty_files, iobuf_epoch;
atomic_int iobuf_off, iobuf_stopped;
__thread int iobuf_inside __attribute__((tls_model("initial-exec")));
__thread struct iobuf_call iobuf_call __attribute__((tls_model("initial-exec")));

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static struct iobuf_file *chain[chains], *free_files;
static struct iobuf_description descriptions[iobuf_most_descriptions], *free_descriptions;
static unsigned descriptions_used;
static atomic_int highest_fd = -1;

static void lock_table(void) {
  iobuf_check_owner();
  ++iobuf_inside;
  pthread_mutex_lock(&table);
}

void iobuf_reset_table_lock(void) { pthread_mutex_init(&table, NULL); }

static void unlock_table(void) {
  pthread_mutex_unlock(&table);
  iobuf_leave();
}

static struct iobuf_file** chain_of(dev_t dev, ino_t ino) {
  return &chain[(ino * 0x9e3779b97f4a7c15u ^ (uint64_t)dev * 0x85ebca6bu) >> 54 & (chains - 1)];
}

static struct iobuf_file* find(dev_t dev, ino_t ino) {
  struct iobuf_file* file = *chain_of(dev, ino);
  while (file != NULL && (file->dev != dev || file->ino != ino)) file = file->next;
  return file;
}

struct iobuf_file* iobuf_find(const struct stat* st) {
  if (iobuf_inside != 0) return NULL;
  lock_table();
  struct iobuf_file* const file = find(st->st_dev, st->st_ino);
  if (file != NULL) iobuf_lock(file);
  unlock_table();
  return file;
}

static struct iobuf_file* new_file(const struct stat* st) {
  struct iobuf_file* file = free_files;
  if (file != NULL) {
    free_files = file->next;
  } else if (iobuf_files_used < iobuf_most_files) {
    file = &iobuf_files[iobuf_files_used];
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->changed, NULL);
    atomic_fetch_add(&iobuf_files_used, 1);
  } else {
    return NULL;
  }
  file->dev = st->st_dev, file->ino = st->st_ino;
  struct iobuf_file** const first = chain_of(file->dev, file->ino);
  file->next = *first;
  *first = file;
  return file;
}

/// Of a file that is locked.
static void begin_file(struct iobuf_file* file, const struct iobuf_settings* with) {
  file->live = 1;
  file->maps = file->direct = file->queued = file->writing = 0;
  file->error = 0;
  file->failed = 0;
  file->checked_ms = 0;
  file->with = *with;
  memset(&file->counts, 0, sizeof file->counts);
  atomic_store(&file->aside, 0);
}

/// Both locks are held.
static void end_file_if_unused(struct iobuf_file* file) {
  if (file->descriptions != NULL || file->maps > 0 || !file->live) return;
  iobuf_release(file);
  iobuf_print_error(file, -1);
  iobuf_count_file(file);
  file->live = 0;
  struct iobuf_file** at = chain_of(file->dev, file->ino);
  while (*at != file) at = &(*at)->next;
  *at = file->next;
  file->next = free_files;
  free_files = file;
}

static struct iobuf_description* new_description(void) {
  struct iobuf_description* d = free_descriptions;
  if (d != NULL) free_descriptions = d->next;
  else if (descriptions_used < iobuf_most_descriptions) d = &descriptions[descriptions_used++];
  return d;
}

static void set_slot(int fd, struct iobuf_description* d) {
  atomic_store_explicit(&iobuf_slots[fd], d, memory_order_release);
  if (d != NULL && fd > highest_fd) atomic_store(&highest_fd, fd);
}

/// Both locks are held.
static void remove_descriptor(int fd, struct iobuf_description* d) {
  struct iobuf_file* const file = d->file;
  set_slot(fd, NULL);
  if (--d->descriptors > 0) {
    for (int other = 0; d->fd == fd && other <= highest_fd; ++other) {
      if (iobuf_slots[other] == d) d->fd = other;
    }
    return;
  }
  if (d->next == NULL && file->descriptions == d) iobuf_print_error(file, fd);  // nothing can tell it any more
  struct iobuf_description** at = &file->descriptions;
  while (*at != d) at = &(*at)->next;
  *at = d->next;
  d->next = free_descriptions;
  free_descriptions = d;
  end_file_if_unused(file);
}

/// No job may use a descriptor that is about to be closed. The last pass waits for nothing.
static void await_all(struct iobuf_file* file) {
  for (int waits = 1; waits;) {
    waits = 0;
    for (unsigned k = 0; k < file->has; ++k) {
      waits |= file->buffers[k].state == iobuf_running;
      iobuf_await(&file->buffers[k]);
    }
  }
}

/// Nothing that uses a descriptor is under way, or begins.
static void end_calls(struct iobuf_description* d, int writes) {
  struct iobuf_file* const file = d->file;
  ++file->pauses;
  do {
    while (d->busy || file->writing > 0) iobuf_wait_for_change(file);
    if (writes) iobuf_flush(file);
    await_all(file);
  } while (d->busy || file->writing > 0);
  iobuf_end_pause(file);
}

static int forget(int fd, int is_open, int tells) {
  if (is_open && fd == STDERR_FILENO) iobuf_no_stderr = 1;
  if ((unsigned)fd >= iobuf_most_fds || iobuf_slots[fd] == NULL || iobuf_inside != 0) return 0;
  struct iobuf_description* d = is_open ? iobuf_enter(fd) : NULL;
  int error = 0;
  if (d != NULL) {
    if (d->writes) {
      iobuf_flush(d->file);
      if (tells) error = iobuf_take_error(d->file);
    }
    iobuf_unlock(d->file);
  }
  lock_table();
  d = iobuf_slots[fd];
  if (d != NULL) {
    struct iobuf_file* const file = d->file;
    iobuf_lock(file);
    end_calls(d, is_open && d->writes);
    if (tells && d->writes && error == 0) error = iobuf_take_error(file);
    remove_descriptor(fd, d);
    iobuf_unlock(file);
  }
  unlock_table();
  return error;
}

int iobuf_forget(int fd) { return forget(fd, 1, 1); }
void iobuf_forget_silently(int fd) { forget(fd, 1, 0); }

/// A descriptor that the table cannot hold.
static void step_aside_unseen(int fd) {
  struct stat st;
  struct iobuf_file* const file = iobuf_sys_fstat(fd, &st) == 0 ? iobuf_find(&st) : NULL;
  if (file == NULL) return;
  iobuf_step_aside(file, iobuf_by_other);
  iobuf_unlock(file);
}

void iobuf_copied(int fd, int copy) {
  if (iobuf_inside != 0) return;
  if (copy >= iobuf_most_fds) {
    step_aside_unseen(copy);
    return;
  }
  forget(copy, 0, 0);
  lock_table();
  struct iobuf_description* const d = (unsigned)fd < iobuf_most_fds ? iobuf_slots[fd] : NULL;
  if (d != NULL) {
    ++d->descriptors;
    set_slot(copy, d);
  }
  unlock_table();
  if (copy == STDERR_FILENO) iobuf_no_stderr = 0;
  if (copy <= STDERR_FILENO) iobuf_step_aside_fd(copy, iobuf_by_stream);
}

/// The table was full once. A file that is not in it is never buffered from then on, because it may be open already.
static int full;

static void add(int fd, const struct stat* st, const struct iobuf_settings* with, int flags, enum iobuf_reason reason) {
  lock_table();
  struct iobuf_file* file = find(st->st_dev, st->st_ino);
  const int is_new = file == NULL;
  if (is_new && !full) file = new_file(st);
  if (file == NULL) {
    full = 1;
    unlock_table();
    return;
  }
  iobuf_lock(file);
  if (is_new) begin_file(file, with);
  file->remote = iobuf_kind_of(fd, st->st_dev) == iobuf_remote;
  struct iobuf_description* const d = new_description();
  if (d == NULL) {
    iobuf_step_aside(file, iobuf_by_other);
    end_file_if_unused(file);
  } else {
    const int mode = flags & O_ACCMODE;
    *d = (struct iobuf_description){.file = file,
                                    .fd = fd,
                                    .offset = (flags & O_APPEND) != 0 ? iobuf_sys_lseek(fd, 0, SEEK_CUR) : 0,
                                    .descriptors = 1,
                                    .reads = mode != O_WRONLY,
                                    .writes = mode != O_RDONLY,
                                    .appends = (flags & O_APPEND) != 0,
                                    .expected = 0,
                                    .read_block = -1,
                                    .next = file->descriptions};
    file->descriptions = d;
    set_slot(fd, d);
    if (reason != 0) {
      d->foreign = 1;
      iobuf_step_aside(file, reason);
    }
  }
  iobuf_unlock(file);
  unlock_table();
}

int iobuf_opened(int fd, const char* path, enum iobuf_reason reason) {
  if (fd < 0 || iobuf_inside != 0) return fd;
  const int error = errno;
  iobuf_begin();
  if (fd >= iobuf_most_fds) {
    step_aside_unseen(fd);
    errno = error;
    return fd;
  }
  forget(fd, 0, 0);
  if (fd == STDERR_FILENO && reason == 0) iobuf_no_stderr = 1;
  if (fd <= STDERR_FILENO && reason == 0) reason = iobuf_by_stream;  // of the C library, which uses the system's offset
  if (iobuf_stopped && reason == 0) reason = iobuf_by_other;
  struct stat st;
  if (!iobuf_off && iobuf_sys_fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
    const int flags = REAL(fcntl)(fd, F_GETFL);
    if (flags >= 0 && (flags & O_PATH) == 0 && iobuf_kind_of(fd, st.st_dev) != iobuf_special) {
      const struct iobuf_settings* with = iobuf_settings_of(fd, path);
      if ((flags & (O_DIRECT | O_DSYNC)) != 0 && reason == 0) reason = iobuf_by_flags;
      if (with == NULL && reason == 0) reason = iobuf_by_pattern;
      static const struct iobuf_settings none = {iobuf_least_bytes, 12, 0, 1, 0, 0};
      add(fd, &st, with != NULL ? with : &none, flags, reason);
    }
  }
  errno = error;
  return fd;
}

void iobuf_leave_to_system(struct iobuf_file* file, enum iobuf_reason reason) {
  for (struct iobuf_description* d = file->descriptions; d != NULL; d = d->next) {
    if (!d->foreign) iobuf_sys_lseek(d->fd, d->offset, SEEK_SET);
  }
  atomic_store_explicit(&file->aside, (int)reason, memory_order_release);
}

void iobuf_step_aside(struct iobuf_file* file, enum iobuf_reason reason) {
  iobuf_begin_pause(file);
  if (file->aside == 0) {
    iobuf_leave_to_system(file, reason);
    if (reason != iobuf_by_process || file->counts.reads + file->counts.writes > 0) iobuf_count_aside(reason);
  }
  iobuf_end_pause(file);
}

void iobuf_step_aside_fd(int fd, enum iobuf_reason reason) {
  struct iobuf_description* const d = iobuf_enter(fd);
  if (d == NULL) return;
  iobuf_step_aside(d->file, reason);
  iobuf_unlock(d->file);
}

void iobuf_step_all_aside(enum iobuf_reason reason) {
  if (iobuf_inside != 0) {
    iobuf_publish();
    return;
  }
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    struct iobuf_file* const file = &iobuf_files[k];
    iobuf_lock(file);
    if (file->live) iobuf_step_aside(file, reason);
    iobuf_unlock(file);
  }
}

void iobuf_lock_all(void) {
  lock_table();
  for (unsigned k = 0; k < iobuf_files_used; ++k) iobuf_lock(&iobuf_files[k]);
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    if (iobuf_files[k].live) iobuf_step_aside(&iobuf_files[k], iobuf_by_process);
  }
  iobuf_lock_jobs();
}

void iobuf_unlock_all(int in_child) {
  iobuf_unlock_jobs(in_child);
  for (unsigned k = 0; k < iobuf_files_used; ++k) {
    if (in_child) {
      iobuf_reset_locks(&iobuf_files[k]);
      --iobuf_inside;
    } else {
      iobuf_unlock(&iobuf_files[k]);
    }
  }
  if (in_child) {
    iobuf_reset_table_lock();
    iobuf_forget_waiting();
    --iobuf_inside;
  } else {
    unlock_table();
  }
}

// Mappings of files. A file that is mapped stays aside, also while no descriptor leads to it.
enum { most_mappings = 1024 };
static struct {
  void* at;
  size_t bytes;
  struct iobuf_file* file;
} mappings[most_mappings];
static atomic_uint mappings_used;

void iobuf_mapped(int fd, void* at, size_t bytes) {
  struct stat st;
  if (iobuf_inside != 0 || iobuf_sys_fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return;
  lock_table();
  struct iobuf_file* const file = find(st.st_dev, st.st_ino);
  if (file != NULL) {
    iobuf_lock(file);
    iobuf_step_aside(file, iobuf_by_mapping);
    ++file->maps;
    iobuf_unlock(file);
    for (unsigned k = 0; k < most_mappings; ++k) {
      if (mappings[k].file != NULL) continue;
      mappings[k].at = at, mappings[k].bytes = bytes, mappings[k].file = file;
      if (k >= mappings_used) mappings_used = k + 1;
      break;
    }
  }
  unlock_table();
}

/// In one step: as soon as the address is free, another thread can get it for another file.
int iobuf_unmap(void* at, size_t bytes, int (*unmap)(void*, size_t)) {
  const size_t page = 4096;
  unsigned at_first = 0;  // without the lock: most mappings are of a library for memory
  while (at_first < mappings_used && mappings[at_first].at != at) ++at_first;
  if (at_first == mappings_used || iobuf_inside != 0) return unmap(at, bytes);
  lock_table();
  const int result = unmap(at, bytes);
  for (unsigned k = at_first; result == 0 && k < mappings_used; ++k) {
    struct iobuf_file* const file = mappings[k].file;
    if (file == NULL || mappings[k].at != at || (mappings[k].bytes + page - 1) / page != (bytes + page - 1) / page)
      continue;
    mappings[k].file = NULL;
    iobuf_lock(file);
    --file->maps;
    end_file_if_unused(file);
    iobuf_unlock(file);
    break;
  }
  unlock_table();
  return result;
}
