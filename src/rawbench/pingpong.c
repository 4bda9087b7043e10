// Measures how long messages take between two processes of this machine, without MPI.
//
//   culmen_pingpong ROUTE BUFFER_BYTES
//
// ROUTE: tcp (loopback), unix (a pair of Unix sockets) or shm (shared memory). BUFFER_BYTES: the send
// and receive buffers of the sockets; 0: as the system sets them. Reads commands from its standard input and answers
// each with one line, as src/mpibench does:
//
//   pingpong - BYTES N    N round trips: answers "ok" and half of each time in ns
//   end
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { most_calls = 100000, line_bytes = 256, spins = 2000 };
static const int64_t most_bytes = INT64_C(1) << 30;

// Shared memory: one message in each direction. The number of a message says that it is there.
typedef struct {
  _Alignas(64) _Atomic uint64_t number[2];
  size_t room;
} header;

typedef struct {
  int socket;  // -1: shared memory
  int side;    // 0: who asks; 1: who answers
  header* shared;
  unsigned char* inbox[2];
  uint64_t count[2];
} channel;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void fail(const char* what) {
  printf("error %s: %s\n", what, strerror(errno));
  fflush(stdout);
  exit(1);
}

static void send_all(channel* c, const unsigned char* data, size_t bytes) {
  if (c->socket < 0) {
    const int to = 1 - c->side;
    memcpy(c->inbox[to], data, bytes);
    atomic_store_explicit(&c->shared->number[to], ++c->count[to], memory_order_release);
    return;
  }
  do {
    const ssize_t done = send(c->socket, data, bytes, MSG_NOSIGNAL);
    if (done < 0 && errno != EINTR) exit(c->side);
    if (done > 0) data += done, bytes -= (size_t)done;
  } while (bytes > 0);
}

static void receive_all(channel* c, unsigned char* data, size_t bytes) {
  if (c->socket < 0) {
    const uint64_t wanted = ++c->count[c->side];
    for (int i = 0; atomic_load_explicit(&c->shared->number[c->side], memory_order_acquire) != wanted; ++i)
      if (i >= spins) sched_yield(), i = 0;
    memcpy(data, c->inbox[c->side], bytes);
    return;
  }
  while (bytes > 0) {
    const ssize_t done = recv(c->socket, data, bytes, 0);
    if (done == 0 || (done < 0 && errno != EINTR)) exit(c->side);
    if (done > 0) data += done, bytes -= (size_t)done;
  }
}

static void set_buffers(int socket, int bytes) {
  if (bytes <= 0) return;
  if (setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) ||
      setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes))
    fail("the buffers cannot be set");
}

static void connect_tcp(int ends[2], int buffer_bytes) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof here;
  const int door = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  if (door < 0 || bind(door, (struct sockaddr*)&here, length) || listen(door, 1) ||
      getsockname(door, (struct sockaddr*)&here, &length))
    fail("no port can be opened");
  set_buffers(door, buffer_bytes);  // before a connection: later they are inherited
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  set_buffers(ends[0], buffer_bytes);
  if (connect(ends[0], (struct sockaddr*)&here, length)) fail("the port does not answer");
  ends[1] = accept(door, NULL, NULL);
  if (ends[1] < 0) fail("no connection arrived");
  for (int i = 0; i < 2; ++i) setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  close(door);
}

static void connect_unix(int ends[2], int buffer_bytes) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("no sockets can be made");
  set_buffers(ends[0], buffer_bytes);
  set_buffers(ends[1], buffer_bytes);
}

// The memory for messages is there once, for the largest message that was asked for.
static unsigned char* buffer(size_t bytes) {
  static unsigned char* memory;
  static size_t there;
  if (bytes <= there) return memory;
  free(memory);
  memory = malloc(bytes);
  if (!memory) exit(1);
  memset(memory, 1, bytes);
  there = bytes;
  return memory;
}

static size_t at_least_one(int64_t bytes) { return bytes > 0 ? (size_t)bytes : 1; }  // a socket cannot carry nothing

static void answer_pings(channel* c) {
  int64_t order[2];
  for (;;) {
    receive_all(c, (unsigned char*)order, sizeof order);
    const size_t bytes = at_least_one(order[0]);
    unsigned char* data = buffer(bytes);
    send_all(c, data, 1);  // shared memory has room for one message
    for (int64_t i = 0; i < order[1]; ++i) {
      receive_all(c, data, bytes);
      send_all(c, data, bytes);
    }
  }
}

// Each message begins with another byte. 0: a wrong one came back.
static int ping(channel* c, int64_t bytes_wanted, int64_t calls, int64_t* half_ns) {
  const int64_t order[2] = {bytes_wanted, calls};
  const size_t bytes = at_least_one(bytes_wanted);
  unsigned char* data = buffer(bytes);
  send_all(c, (const unsigned char*)order, sizeof order);
  receive_all(c, data, 1);
  int right = 1;
  for (int64_t i = 0; i < calls; ++i) {
    data[0] = data[bytes - 1] = (unsigned char)i;
    const int64_t begun = now_ns();
    send_all(c, data, bytes);
    receive_all(c, data, bytes);
    half_ns[i] = (now_ns() - begun) / 2;
    right &= data[0] == (unsigned char)i && data[bytes - 1] == (unsigned char)i;
  }
  return right;
}

static void obey(channel* c) {
  static int64_t half_ns[most_calls];
  char line[line_bytes], verb[16];
  long long bytes, calls;
  printf("ok 2 raw\n");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "%15s %*s %lld %lld", verb, &bytes, &calls) != 3 || strcmp(verb, "pingpong") != 0) {
      if (strncmp(line, "end", 3) == 0) return;
      printf("error there is no such command\n");
    } else if (bytes < 0 || bytes > most_bytes || calls < 1 || calls > most_calls) {
      printf("error so many messages of this size cannot be sent at once\n");
    } else if (!ping(c, bytes, calls, half_ns)) {
      printf("error a message is wrong\n");
    } else {
      printf("ok");
      for (long long i = 0; i < calls; ++i) printf(" %lld", (long long)half_ns[i]);
      putchar('\n');
    }
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int buffer_bytes = atoi(argv[2]);
  int ends[2] = {-1, -1};
  header* shared = NULL;
  if (strcmp(argv[1], "tcp") == 0) connect_tcp(ends, buffer_bytes);
  else if (strcmp(argv[1], "unix") == 0) connect_unix(ends, buffer_bytes);
  else if (strcmp(argv[1], "shm") != 0) return 2;
  else {
    const size_t room = sizeof(header) + 2 * (size_t)most_bytes;  // only the pages that are used take memory
    shared = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) fail("no memory can be shared");
  }
  const pid_t parent = getpid(), child = fork();
  if (child < 0) fail("no process can be started");
  channel c = {.socket = ends[child == 0], .side = child == 0, .shared = shared};
  if (shared) {
    c.inbox[0] = (unsigned char*)(shared + 1);
    c.inbox[1] = c.inbox[0] + most_bytes;
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return 0;
    if (ends[0] >= 0) close(ends[0]);
    answer_pings(&c);
  }
  if (ends[1] >= 0) close(ends[1]);
  obey(&c);
  kill(child, SIGKILL);
  return 0;
}
