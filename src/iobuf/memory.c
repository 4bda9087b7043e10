// The memory of all buffers. Some of it is kept for the next file, because new pages cost as much as a system call.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "iobuf/iobuf.h"

enum { most_kept = 8 };

size_t iobuf_memory = (size_t)256 << 20;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t taken, peak;
static struct {
  char* data;
  size_t bytes;
} kept[most_kept];
static unsigned kept_count;

#ifdef __SANITIZE_ADDRESS__  // it sees what is beyond the end
#include <stdlib.h>
static char* map(size_t bytes) { return malloc(bytes); }
static void unmap(char* data, size_t bytes) {
  (void)bytes;
  free(data);
}
#else
// The program's own mmap and munmap are ours.
static char* map(size_t bytes) {
  const long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == -1 ? NULL : (char*)at;
}
static void unmap(char* data, size_t bytes) { syscall(SYS_munmap, data, bytes); }
#endif

static char* take_kept(size_t bytes) {
  for (unsigned k = 0; k < kept_count; ++k) {
    if (kept[k].bytes != bytes) continue;
    char* const data = kept[k].data;
    kept[k] = kept[--kept_count];
    return data;
  }
  while (kept_count > 0 && taken + bytes > iobuf_memory) {
    --kept_count;
    unmap(kept[kept_count].data, kept[kept_count].bytes);
    taken -= kept[kept_count].bytes;
  }
  return NULL;
}

char* iobuf_take_memory(size_t bytes) {
  pthread_mutex_lock(&lock);
  char* data = take_kept(bytes);
  if (data == NULL && taken + bytes <= iobuf_memory) {
    data = map(bytes);
    if (data != NULL) taken += bytes;
    if (taken > peak) peak = taken;
  }
  pthread_mutex_unlock(&lock);
  return data;
}

void iobuf_give_memory(char* data, size_t bytes) {
  pthread_mutex_lock(&lock);
  if (kept_count < most_kept) {
    kept[kept_count].data = data;
    kept[kept_count++].bytes = bytes;
  } else {
    unmap(data, bytes);
    taken -= bytes;
  }
  pthread_mutex_unlock(&lock);
}

void iobuf_reset_memory_lock(void) { pthread_mutex_init(&lock, NULL); }
size_t iobuf_memory_peak(void) { return peak; }
