#define _GNU_SOURCE
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "ranks.h"

enum { tag = 7, most_files = 4096, trial_bytes = 1 << 18, trials = 4, patience_s = 20, name_bytes = 64 };

// Rank 1 tells this to rank 0. Nobody else knows the secret.
typedef struct {
  struct sockaddr_storage address;
  socklen_t length;
  uint64_t secret;
  char interface[name_bytes];
  int has_failed;
} door;

static int connection = -1;

static int is_loopback(const struct sockaddr_storage* of) {
  if (of->ss_family == AF_INET) return ntohl(((const struct sockaddr_in*)of)->sin_addr.s_addr) >> 24 == 127;
  const struct in6_addr* const six = &((const struct sockaddr_in6*)of)->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

// Messages by which the MPI opens its own connection, if it has not done so.
static void exchange(void) {
  char* data = calloc(1, trial_bytes);
  if (!data) MPI_Abort(control, 1);
  for (int i = 0; i < trials && rank < 2; ++i)
    MPI_Sendrecv_replace(data, trial_bytes, MPI_BYTE, 1 - rank, tag, 1 - rank, tag, control, MPI_STATUS_IGNORE);
  free(data);
}

static uint64_t bytes_through(int file) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  return getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &length) ? 0 : info.tcpi_bytes_received;
}

// This process's end of the TCP connection by which most bytes came: that of the MPI.
static int find_own_connection(door* d) {
  uint64_t most = trial_bytes;
  for (int file = 0; file < most_files; ++file) {
    struct sockaddr_storage here, there;
    socklen_t length = sizeof here, far = sizeof there;
    if (getsockname(file, (struct sockaddr*)&here, &length) || getpeername(file, (struct sockaddr*)&there, &far))
      continue;
    if ((here.ss_family != AF_INET && here.ss_family != AF_INET6) || is_loopback(&here)) continue;
    const uint64_t bytes = bytes_through(file);
    if (bytes < most) continue;
    most = bytes, d->address = here, d->length = length;
  }
  return d->length > 0;
}

static int address_of_host(door* d) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
  if (getaddrinfo(name, NULL, &hints, &found)) return 0;
  for (const struct addrinfo* one = found; one && !d->length; one = one->ai_next) {
    struct sockaddr_storage address;
    memset(&address, 0, sizeof address);
    memcpy(&address, one->ai_addr, one->ai_addrlen);
    if (!is_loopback(&address)) d->address = address, d->length = one->ai_addrlen;
  }
  freeaddrinfo(found);
  return d->length > 0;
}

static void use_loopback(door* d) {
  const struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  memcpy(&d->address, &here, sizeof here);
  d->length = sizeof here;
}

static int same_host(const struct sockaddr* a, const struct sockaddr_storage* b) {
  if (!a || a->sa_family != b->ss_family) return 0;
  if (a->sa_family == AF_INET)
    return ((const struct sockaddr_in*)a)->sin_addr.s_addr == ((const struct sockaddr_in*)b)->sin_addr.s_addr;
  if (a->sa_family != AF_INET6) return 0;
  const struct in6_addr *six = &((const struct sockaddr_in6*)a)->sin6_addr,
                        *other = &((const struct sockaddr_in6*)b)->sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(other)) return 0;
  return memcmp(six, other, sizeof *six) == 0;
}

static void name_interface(door* d) {
  struct ifaddrs* all = NULL;
  strcpy(d->interface, "?");
  if (getifaddrs(&all)) return;
  for (const struct ifaddrs* one = all; one; one = one->ifa_next)
    if (same_host(one->ifa_addr, &d->address)) {
      strncpy(d->interface, one->ifa_name, name_bytes - 1);
      break;
    }
  freeifaddrs(all);
}

static void set_options(int file, int buffer_bytes) {
  const int one = 1;
  const struct timeval limit = {.tv_sec = patience_s};
  setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);  // also of connect() and accept()
  setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  if (buffer_bytes <= 0) return;
  setsockopt(file, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  setsockopt(file, SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
}

static int send_all(const void* data, int64_t bytes) {
  for (const char* at = data; bytes > 0;) {
    const ssize_t done = send(connection, at, (size_t)bytes, MSG_NOSIGNAL);
    if (done < 0 && errno != EINTR) return 0;
    if (done > 0) at += done, bytes -= done;
  }
  return 1;
}

static int receive_all(void* data, int64_t bytes) {
  for (char* at = data; bytes > 0;) {
    const ssize_t done = recv(connection, at, (size_t)bytes, 0);
    if (done == 0 || (done < 0 && errno != EINTR)) return 0;
    if (done > 0) at += done, bytes -= done;
  }
  return 1;
}

static int open_door(door* d, int buffer_bytes) {
  const int file = socket(d->address.ss_family, SOCK_STREAM, 0);
  ((struct sockaddr_in*)&d->address)->sin_port = 0;  // at the same place for both families
  set_options(file, buffer_bytes);
  if (file < 0 || bind(file, (struct sockaddr*)&d->address, d->length) || listen(file, 1) ||
      getsockname(file, (struct sockaddr*)&d->address, &d->length) ||
      getrandom(&d->secret, sizeof d->secret, 0) != sizeof d->secret) {
    d->has_failed = 1;
    if (file >= 0) close(file);
    return -1;
  }
  return file;
}

// Of rank 1.
static int let_in(int file, uint64_t secret, int buffer_bytes) {
  uint64_t said = 0;
  connection = accept(file, NULL, NULL);
  if (connection >= 0) set_options(connection, buffer_bytes);
  const int is_right = connection >= 0 && receive_all(&said, sizeof said) && said == secret;
  close(file);
  return is_right;
}

// Of rank 0.
static int enter(const door* d, int buffer_bytes) {
  connection = socket(d->address.ss_family, SOCK_STREAM, 0);
  if (connection < 0) return 0;
  set_options(connection, buffer_bytes);
  return connect(connection, (const struct sockaddr*)&d->address, d->length) == 0 &&
         send_all(&d->secret, sizeof d->secret);
}

static int is_one_node(void) {
  MPI_Comm node;
  int there;
  MPI_Comm_split_type(control, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &there);
  MPI_Comm_free(&node);
  return on_all(there == size);
}

const char* connect_sockets(int buffer_bytes, char* interface) {
  if (size < 2) return "there is only one rank";
  door d;
  int file = -1, is_right = 1;
  memset(&d, 0, sizeof d);
  const int alone = is_one_node();
  exchange();
  if (rank == 1) {
    if (!find_own_connection(&d) && alone) use_loopback(&d);
    d.has_failed = !d.length && !address_of_host(&d);
    if (!d.has_failed) name_interface(&d), file = open_door(&d, buffer_bytes);
    MPI_Send(&d, (int)sizeof d, MPI_BYTE, 0, tag, control);
    if (!d.has_failed) is_right = let_in(file, d.secret, buffer_bytes);
  } else if (rank == 0) {
    MPI_Recv(&d, (int)sizeof d, MPI_BYTE, 1, tag, control, MPI_STATUS_IGNORE);
    if (!d.has_failed) is_right = enter(&d, buffer_bytes);
  }
  if (!on_all(!d.has_failed)) return "the network interface of the MPI cannot be used for TCP";
  strcpy(interface, d.interface);
  return on_all(is_right) ? NULL : "the two nodes cannot be connected by TCP";
}

const char* time_sockets(unsigned char* data, int64_t bytes, int64_t calls, int64_t* half_ns) {
  int is_right = rank > 1 || connection >= 0;
  if (bytes == 0) bytes = 1;  // a socket cannot carry nothing
  for (int64_t i = 0; i < calls && rank < 2 && is_right; ++i) {
    if (rank == 0) data[0] = data[bytes - 1] = (unsigned char)i;
    const int64_t begun = now_ns();
    if (rank == 0) is_right &= send_all(data, bytes);
    is_right &= receive_all(data, bytes);
    if (rank == 1) is_right &= send_all(data, bytes);
    half_ns[i] = (now_ns() - begun) / 2;
    is_right &= data[0] == (unsigned char)i && data[bytes - 1] == (unsigned char)i;
  }
  return on_all(is_right) ? NULL : "a message is wrong, or the connection has ended";
}
