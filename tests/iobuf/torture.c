// Random calls on a few files, each compared with a model in memory.
//
//   torture FOLDER SEED STEPS THREADS
//
// Prints a digest of all results, which must not depend on a preloaded library. Exit code 1: a result differs from the
// model. Each thread has files of its own, and a part of a file that all threads share.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most_bytes = 256 << 10, names = 3, most_fds = 8, stripe = 700, stripes = 60, most_threads = 8 };

struct node {
  unsigned char bytes[most_bytes];
  size_t size;
  int links, open;
};
struct description {
  struct node* node;
  size_t offset;
  int reads, writes, appends, fds;
};
struct session {
  char folder[256];
  uint64_t state, digest;
  unsigned long seed, step;
  int thread, shared;
  const char* call;
  struct node* named[names];
  struct description* fds[most_fds];
  int numbers[most_fds];
  unsigned char own[stripes * stripe];  // of the shared file
  unsigned char buffer[most_bytes], other[most_bytes];
};
static int threads;

static uint64_t draw(struct session* s) {  // splitmix64
  uint64_t z = s->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static size_t below(struct session* s, size_t n) { return n == 0 ? 0 : draw(s) % n; }

static void note(struct session* s, const void* at, size_t n) {
  const unsigned char* bytes = at;
  for (size_t k = 0; k<n; k += n> 64 ? n / 64 : 1) s->digest = (s->digest ^ bytes[k]) * 0x100000001b3u;
}

static void fail(struct session* s, const char* what, long long got, long long expected) {
  printf("seed %lu thread %d step %lu %s: %s is %lld, must be %lld (errno %d)\n", s->seed, s->thread, s->step, s->call,
         what, got, expected, errno);
  fflush(stdout);
  syscall(SYS_exit_group, 1);
}
static void must(struct session* s, const char* what, long long got, long long expected) {
  if (got != expected) fail(s, what, got, expected);
  note(s, &got, sizeof got);
}
static void must_equal(struct session* s, const unsigned char* got, const unsigned char* expected, size_t n) {
  for (size_t k = 0; k < n; ++k) {
    if (got[k] != expected[k]) {
      char what[64];
      snprintf(what, sizeof what, "byte %zu of %zu", k, n);
      fail(s, what, got[k], expected[k]);
    }
  }
  note(s, got, n);
}

static char* path_of(struct session* s, int name, char* path) {
  snprintf(path, 300, "%s/%d-%d", s->folder, s->thread, name);
  return path;
}

static size_t some_size(struct session* s) {
  const size_t kind = below(s, 20);
  return kind < 13 ? below(s, 600) : kind < 18 ? below(s, 9000) : below(s, 70000);
}
static size_t some_offset(struct session* s, const struct node* node) {
  return below(s, 8) == 0 ? below(s, most_bytes) : below(s, node->size + 1);
}
static void fill(struct session* s, unsigned char* at, size_t n) {
  uint64_t word = draw(s);
  for (size_t k = 0; k < n; ++k) {
    if (k % 8 == 0) word = word * 6364136223846793005u + 1442695040888963407u;
    at[k] = (unsigned char)(word >> 56 ^ k);
  }
}

// The model.
static size_t model_read(const struct node* node, size_t at, size_t n) {
  return at >= node->size ? 0 : node->size - at < n ? node->size - at : n;
}
static void resize(struct node* node, size_t size) {
  if (size > node->size) memset(node->bytes + node->size, 0, size - node->size);
  node->size = size;
}
static void model_write(struct node* node, size_t at, const unsigned char* from, size_t n) {
  if (n == 0) return;
  if (at > node->size) resize(node, at);
  memcpy(node->bytes + at, from, n);
  if (at + n > node->size) node->size = at + n;
}
static void drop_node(struct node* node) {
  if (node->links == 0 && node->open == 0) free(node);
}

/// An open descriptor that can read (1) or write (2); -1: none.
static int some_fd(struct session* s, int need) {
  const int begin = (int)below(s, most_fds);
  for (int k = 0; k < most_fds; ++k) {
    const int at = (begin + k) % most_fds;
    const struct description* const d = s->fds[at];
    if (d != NULL && (!(need & 1) || d->reads) && (!(need & 2) || d->writes)) return at;
  }
  return -1;
}
static int free_fd(struct session* s) {
  for (int k = 0; k < most_fds; ++k) {
    if (s->fds[k] == NULL) return k;
  }
  return -1;
}

/// Past any library: what another process sees.
static void check_system(struct session* s, const struct node* node, int name) {
  char path[300];
  const int fd = (int)syscall(SYS_openat, AT_FDCWD, path_of(s, name, path), O_RDONLY, 0);
  if (fd < 0) return;
  size_t n = 0;
  for (long got = 1; got > 0; n += (size_t)got) {
    got = syscall(SYS_read, fd, s->other + n, most_bytes - n);
    if (got < 0) got = 0;
  }
  syscall(SYS_close, fd);
  must(s, "size in the system", (long long)n, (long long)node->size);
  must_equal(s, s->other, node->bytes, n);
}
static void check_node(struct session* s, const struct node* node) {
  for (int k = 0; k < names; ++k) {
    if (s->named[k] == node) {
      check_system(s, node, k);
      return;
    }
  }
}

static void do_open(struct session* s) {
  const int at = free_fd(s), name = (int)below(s, names);
  if (at < 0) return;
  static const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR, O_RDWR};
  int flags = modes[below(s, 4)] | O_CREAT;
  if (below(s, 8) == 0) flags |= O_APPEND;
  if (below(s, 6) == 0 && (flags & O_ACCMODE) != O_RDONLY) flags |= O_TRUNC;
  if (below(s, 40) == 0) flags |= O_SYNC;
  char path[300];
  path_of(s, name, path);
  s->call = "open";
  int fd = -1;
  switch (below(s, 3)) {
    case 0:
      fd = open(path, flags, 0644);
      break;
    case 1:
      fd = openat(AT_FDCWD, path, flags, 0644);
      break;
    default:
      fd = open64(path, flags, 0644);
  }
  must(s, "whether it is open", fd >= 0, 1);
  if (s->named[name] == NULL) {
    s->named[name] = calloc(1, sizeof(struct node));
    s->named[name]->links = 1;
  }
  struct node* const node = s->named[name];
  if ((flags & O_TRUNC) != 0) node->size = 0;
  ++node->open;
  struct description* const d = calloc(1, sizeof *d);
  *d = (struct description){
      node, 0, (flags & O_ACCMODE) != O_WRONLY, (flags & O_ACCMODE) != O_RDONLY, (flags & O_APPEND) != 0, 1};
  s->fds[at] = d;
  s->numbers[at] = fd;
}

static void forget(struct session* s, int at) {
  struct description* const d = s->fds[at];
  s->fds[at] = NULL;
  if (--d->fds > 0) return;
  --d->node->open;
  drop_node(d->node);
  free(d);
}
static void do_close(struct session* s) {
  const int at = some_fd(s, 0);
  if (at < 0) return;
  s->call = "close";
  const struct description* const d = s->fds[at];
  must(s, "result", close(s->numbers[at]), 0);
  if (d->writes && below(s, 3) == 0) check_node(s, d->node);
  forget(s, at);
}

static void read_once(struct session* s, int at, size_t n, int kind) {
  struct description* const d = s->fds[at];
  const int fd = s->numbers[at];
  const size_t place = kind >= 2 ? some_offset(s, d->node) : d->offset;
  const size_t expected = model_read(d->node, place, n), half = n / 3;
  const struct iovec parts[] = {{s->buffer, half}, {NULL, 0}, {s->buffer + half, n - half}};
  ssize_t got = 0;
  s->call = (const char*[]){"read", "readv", "pread", "preadv"}[kind];
  if (kind == 0) got = read(fd, s->buffer, n);
  if (kind == 1) got = readv(fd, parts, 3);
  if (kind == 2) got = pread(fd, s->buffer, n, (off_t)place);
  if (kind == 3) got = preadv(fd, parts, 3, (off_t)place);
  must(s, "number of bytes", got, (long long)expected);
  must_equal(s, s->buffer, d->node->bytes + place, expected);
  if (kind < 2) d->offset += expected;
}
static void do_read(struct session* s) {
  const int at = some_fd(s, 1);
  if (at < 0) return;
  const int kind = (int)below(s, 4);
  size_t n = some_size(s);
  for (size_t k = below(s, 4) == 0 ? below(s, 30) : 1; k > 0; --k) {
    read_once(s, at, n, below(s, 4) == 0 ? kind : kind & 1);
    if (n > 5000) n /= 4;
  }
}

static void write_once(struct session* s, int at, size_t n, int kind) {
  struct description* const d = s->fds[at];
  const int fd = s->numbers[at];
  size_t place = kind >= 2 ? some_offset(s, d->node) : d->offset;
  const size_t offset = place;
  if (d->appends) place = d->node->size;
  if (place + n > most_bytes) return;
  fill(s, s->buffer, n);
  const size_t half = n / 3;
  const struct iovec parts[] = {{s->buffer, half}, {NULL, 0}, {s->buffer + half, n - half}};
  ssize_t put = 0;
  s->call = (const char*[]){"write", "writev", "pwrite", "pwritev"}[kind];
  if (kind == 0) put = write(fd, s->buffer, n);
  if (kind == 1) put = writev(fd, parts, 3);
  if (kind == 2) put = pwrite(fd, s->buffer, n, (off_t)offset);
  if (kind == 3) put = pwritev(fd, parts, 3, (off_t)offset);
  must(s, "number of bytes", put, (long long)n);
  model_write(d->node, place, s->buffer, n);
  if (kind < 2 && n > 0) d->offset = place + n;
}
static void do_write(struct session* s) {
  const int at = some_fd(s, 2);
  if (at < 0) return;
  const int kind = (int)below(s, 4);
  size_t n = some_size(s);
  for (size_t k = below(s, 4) == 0 ? below(s, 30) : 1; k > 0; --k) {
    write_once(s, at, n, below(s, 4) == 0 ? kind : kind & 1);
    if (n > 5000) n /= 4;
  }
}

static void do_seek(struct session* s) {
  const int at = some_fd(s, 0);
  if (at < 0) return;
  struct description* const d = s->fds[at];
  const size_t to = some_offset(s, d->node), kind = below(s, 4);
  off_t got = 0;
  s->call = "lseek";
  if (kind <= 1) got = lseek(s->numbers[at], (off_t)to, SEEK_SET);
  if (kind == 2) got = lseek(s->numbers[at], (off_t)to - (off_t)d->offset, SEEK_CUR);
  if (kind == 3) got = lseek(s->numbers[at], (off_t)to - (off_t)d->node->size, SEEK_END);
  must(s, "offset", got, (long long)to);
  d->offset = to;
  if (below(s, 8) == 0) must(s, "error", lseek(s->numbers[at], -1, SEEK_SET), -1);
}

static void do_size(struct session* s) {
  const int at = some_fd(s, 0), name = (int)below(s, names);
  char path[300];
  struct stat st;
  struct statx stx;
  s->call = "stat";
  if (at >= 0 && below(s, 2) == 0) {
    must(s, "result", fstat(s->numbers[at], &st), 0);
    must(s, "size", st.st_size, (long long)s->fds[at]->node->size);
  } else if (s->named[name] != NULL) {
    path_of(s, name, path);
    if (below(s, 2) == 0) {
      must(s, "result", below(s, 2) == 0 ? stat(path, &st) : lstat(path, &st), 0);
    } else {
      must(s, "result", statx(AT_FDCWD, path, 0, STATX_SIZE, &stx), 0);
      st.st_size = (off_t)stx.stx_size;
    }
    must(s, "size", st.st_size, (long long)s->named[name]->size);
  }
}

static void do_truncate(struct session* s) {
  const int at = some_fd(s, 2), name = (int)below(s, names);
  char path[300];
  s->call = "truncate";
  struct node* node = at >= 0 ? s->fds[at]->node : NULL;
  if (below(s, 2) == 0) node = s->named[name];
  if (node == NULL) return;
  const size_t to = some_offset(s, node);
  if (node == s->named[name]) must(s, "result", truncate(path_of(s, name, path), (off_t)to), 0);
  else must(s, "result", ftruncate(s->numbers[at], (off_t)to), 0);
  resize(node, to);
}

static void do_copy_fd(struct session* s) {
  const int from = some_fd(s, 0), to = (int)below(s, most_fds);
  if (from < 0 || from == to) return;
  s->call = "dup";
  int fd = -1;
  if (s->fds[to] != NULL) {
    if (below(s, 2) == 0) return;
    fd = below(s, 2) == 0 ? dup2(s->numbers[from], s->numbers[to]) : dup3(s->numbers[from], s->numbers[to], O_CLOEXEC);
    must(s, "descriptor", fd == s->numbers[to], 1);
    ++s->fds[from]->fds;
    struct description* const kept = s->fds[from];
    forget(s, to);
    s->fds[to] = kept;
    return;
  }
  fd = below(s, 2) == 0 ? dup(s->numbers[from]) : fcntl(s->numbers[from], F_DUPFD_CLOEXEC, 0);
  must(s, "whether it is open", fd >= 0, 1);
  ++s->fds[from]->fds;
  s->fds[to] = s->fds[from];
  s->numbers[to] = fd;
}

static void do_flags(struct session* s) {
  const int at = some_fd(s, 0);
  if (at < 0) return;
  s->call = "fcntl";
  struct description* const d = s->fds[at];
  d->appends = below(s, 3) == 0;
  must(s, "result", fcntl(s->numbers[at], F_SETFL, d->appends ? O_APPEND : 0), 0);
}

static void do_sync(struct session* s) {
  const int at = some_fd(s, 0);
  if (at < 0) return;
  s->call = "fsync";
  // The system's part of it would take most of the time.
  must(s, "result", sync_file_range(s->numbers[at], 0, 1, 0), 0);
  check_node(s, s->fds[at]->node);
  if (below(s, 100) == 0) must(s, "result", below(s, 2) == 0 ? fsync(s->numbers[at]) : fdatasync(s->numbers[at]), 0);
}

static void do_names(struct session* s) {
  const int from = (int)below(s, names), to = (int)below(s, names);
  char a[300], b[300];
  if (s->named[from] == NULL) return;
  if (below(s, 2) == 0) {
    s->call = "unlink";
    must(s, "result", unlink(path_of(s, from, a)), 0);
    --s->named[from]->links;
    drop_node(s->named[from]);
    s->named[from] = NULL;
  } else if (from != to && s->named[from] != s->named[to]) {
    s->call = "rename";
    must(s, "result", rename(path_of(s, from, a), path_of(s, to, b)), 0);
    check_system(s, s->named[from], to);
    if (s->named[to] != NULL) {
      --s->named[to]->links;
      drop_node(s->named[to]);
    }
    s->named[to] = s->named[from];
    s->named[from] = NULL;
  }
}

static void do_link(struct session* s) {
  const int from = (int)below(s, names), to = (int)below(s, names);
  char a[300], b[300];
  if (s->named[from] == NULL || s->named[to] != NULL) return;
  s->call = "link";
  must(s, "result", link(path_of(s, from, a), path_of(s, to, b)), 0);
  ++s->named[from]->links;
  s->named[to] = s->named[from];
}

static void do_map(struct session* s) {
  const int at = some_fd(s, 3);
  if (at < 0 || s->fds[at]->node->size == 0 || s->fds[at]->appends) return;
  struct node* const node = s->fds[at]->node;
  s->call = "mmap";
  unsigned char* const map = mmap(NULL, node->size, PROT_READ | PROT_WRITE, MAP_SHARED, s->numbers[at], 0);
  must(s, "whether it is mapped", map != MAP_FAILED, 1);
  must_equal(s, map, node->bytes, node->size);
  const size_t place = below(s, node->size), size = node->size;
  map[place] = node->bytes[place] ^= 0x5a;
  write_once(s, at, below(s, 100), 2);
  s->call = "mmap after a write";
  must_equal(s, map, node->bytes, size < node->size ? size : node->size);
  must(s, "result", munmap(map, size), 0);
}

/// The child shares offsets, and what it writes must arrive.
static void do_fork(struct session* s) {
  const int at = some_fd(s, 3);
  if (at < 0 || s->fds[at]->node->size + 400 > most_bytes || s->fds[at]->offset + 400 > most_bytes) return;
  struct description* const d = s->fds[at];
  const size_t n = 1 + below(s, 300), place = d->appends ? d->node->size : d->offset;
  fill(s, s->buffer, n);
  s->call = "fork";
  const pid_t child = below(s, 4) == 0 ? vfork() : fork();
  if (child == 0) {
    const size_t size = d->node->size;
    int wrong =
        pread(s->numbers[at], s->other, size, 0) != (ssize_t)size || memcmp(s->other, d->node->bytes, size) != 0;
    wrong |= write(s->numbers[at], s->buffer, n) != (ssize_t)n;
    _exit(wrong);
  }
  int status = -1;
  must(s, "child", waitpid(child, &status, 0) == child, 1);
  must(s, "status", status, 0);
  model_write(d->node, place, s->buffer, n);
  d->offset = place + n;
  must(s, "offset", lseek(s->numbers[at], 0, SEEK_CUR), (long long)d->offset);
}

static void do_program(struct session* s) {
  extern char** environ;
  const int at = some_fd(s, 2), name = (int)below(s, names);
  if (at >= 0) write_once(s, at, below(s, 500), 0);
  if (s->named[name] == NULL) return;
  char path[300], size[64];
  snprintf(size, sizeof size, "%zu", s->named[name]->size);
  char* const words[] = {"sh", "-c", "test \"$(stat -c %s \"$0\")\" = \"$1\"", path_of(s, name, path), size, NULL};
  pid_t child;
  s->call = "posix_spawn";
  must(s, "result", posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ), 0);
  int status = -1;
  must(s, "child", waitpid(child, &status, 0) == child, 1);
  must(s, "status", status, 0);
}

static void do_lock(struct session* s) {
  const int at = some_fd(s, 2);
  if (at < 0) return;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  s->call = "lock";
  must(s, "result", below(s, 2) == 0 ? flock(s->numbers[at], LOCK_SH) : fcntl(s->numbers[at], F_SETLK, &lock), 0);
  check_node(s, s->fds[at]->node);
}

static void do_stream(struct session* s) {
  const int name = (int)below(s, names);
  if (s->named[name] == NULL) return;
  struct node* const node = s->named[name];
  char path[300];
  s->call = "fopen";
  FILE* const stream = fopen(path_of(s, name, path), "r+");
  must(s, "whether it is open", stream != NULL, 1);
  must(s, "size", (long long)fread(s->other, 1, most_bytes, stream), (long long)node->size);
  must_equal(s, s->other, node->bytes, node->size);
  if (node->size > 10) {
    fseek(stream, 5, SEEK_SET);
    fputc('!', stream);
    node->bytes[5] = '!';
  }
  must(s, "result", fclose(stream), 0);
}

static void do_inside(struct session* s) {
  const int in = some_fd(s, 1), out = some_fd(s, 2);
  if (in < 0 || out < 0 || s->fds[in]->node == s->fds[out]->node || s->fds[out]->appends) return;
  struct description *const a = s->fds[in], *const b = s->fds[out];
  size_t n = model_read(a->node, a->offset, below(s, 5000));
  if (n == 0 || b->offset + n > most_bytes) return;
  s->call = "sendfile";
  ssize_t moved = 0;
  if (below(s, 2) == 0) moved = sendfile(s->numbers[out], s->numbers[in], NULL, n);
  else moved = copy_file_range(s->numbers[in], NULL, s->numbers[out], NULL, n, 0);
  must(s, "bytes", moved, (long long)n);
  model_write(b->node, b->offset, a->node->bytes + a->offset, n);
  a->offset += n, b->offset += n;
}

/// Other threads write their parts of the same blocks at the same time.
static void do_shared(struct session* s) {
  const size_t which = below(s, stripes), from = below(s, stripe), n = 1 + below(s, stripe - from);
  const off_t at = (off_t)((which * (size_t)threads + (size_t)s->thread) * stripe + from);
  unsigned char* const own = s->own + which * stripe + from;
  s->call = "shared file";
  if (below(s, 2) == 0) {
    fill(s, own, n);
    must(s, "bytes", pwrite(s->shared, own, n, at), (long long)n);
  } else {
    const size_t part = below(s, 2) == 0 ? n : 1 + n / 5;  // in sequence, so that it is buffered
    memset(s->buffer, 0, n);
    for (size_t done = 0; done < n; done += part) {
      const size_t now = n - done < part ? n - done : part;
      const ssize_t got = pread(s->shared, s->buffer + done, now, at + (off_t)done);
      if (got < 0) fail(s, "bytes", got, (long long)now);
    }
    must_equal(s, s->buffer, own, n);  // behind the end of the file, own is zero
  }
}

/// With some seeds no file is shared with a child, so that threads meet in the buffers until the end.
static int has_children(const struct session* s) { return s->thread == 0 && (threads == 1 || s->seed % 4 != 1); }

static void step(struct session* s) {
  static const struct {
    unsigned weight;
    void (*run)(struct session*);
    int first_only;
  } calls[] = {{300, do_read, 0}, {300, do_write, 0}, {100, do_seek, 0},   {40, do_size, 0}, {20, do_truncate, 0},
               {60, do_open, 0},  {55, do_close, 0},  {15, do_copy_fd, 0}, {6, do_flags, 0}, {20, do_sync, 0},
               {10, do_names, 0}, {4, do_link, 0},    {2, do_map, 0},      {1, do_fork, 1},  {2, do_lock, 0},
               {2, do_stream, 0}, {6, do_inside, 0},  {100, do_shared, 0}};
  if (has_children(s) && below(s, 8000) == 0) do_program(s);
  size_t total = 0;
  for (size_t k = 0; k < sizeof calls / sizeof *calls; ++k) total += calls[k].weight;
  size_t at = below(s, total);
  for (size_t k = 0; k < sizeof calls / sizeof *calls; ++k) {
    if (at < calls[k].weight) {
      if (!calls[k].first_only || (has_children(s) && below(s, 4) == 0)) calls[k].run(s);
      return;
    }
    at -= calls[k].weight;
  }
}

static void* run(void* of) {
  struct session* const s = of;
  const unsigned long steps = s->step;
  char path[300];
  snprintf(path, sizeof path, "%s/shared", s->folder);
  s->shared = open(path, O_RDWR | O_CREAT, 0644);
  for (s->step = 0; s->step < steps; ++s->step) step(s);
  s->call = "the end";
  for (int k = 0; k < most_fds; ++k) {
    if (s->fds[k] == NULL) continue;
    must(s, "close", close(s->numbers[k]), 0);
    forget(s, k);
  }
  for (int k = 0; k < names; ++k) {
    if (s->named[k] != NULL) check_system(s, s->named[k], k);
  }
  must(s, "close", close(s->shared), 0);
  return NULL;
}

int main(int count, char** words) {
  if (count != 5) return 2;
  threads = atoi(words[4]);
  if (threads < 1 || threads > most_threads) return 2;
  pthread_t running[most_threads];
  struct session* sessions[most_threads];
  for (int k = 0; k < threads; ++k) {
    struct session* const s = sessions[k] = calloc(1, sizeof *s);
    snprintf(s->folder, sizeof s->folder, "%s", words[1]);
    s->seed = strtoul(words[2], NULL, 10);
    s->state = s->seed * 1000003 + (uint64_t)k;
    s->step = strtoul(words[3], NULL, 10) / (unsigned long)threads;
    s->thread = k;
    if (threads == 1) run(s);
    else if (pthread_create(&running[k], NULL, run, s) != 0) return 2;
  }
  uint64_t digest = 0;
  for (int k = 0; k < threads; ++k) {
    if (threads > 1) pthread_join(running[k], NULL);
    digest = digest * 31 + sessions[k]->digest;
  }
  printf("%016llx\n", (unsigned long long)digest);
  return 0;
}
