// delay_line -- userspace switch with one-way delay and rate limit between network namespaces
// (stands in for `tc netem`, for kernels built without sch_netem; needs /dev/net/tun and root)
//   usage: delay_line DELAY_US RATE_MBIT NS1 NS2 ...      RATE_MBIT 0 = unlimited
// Node i (1..N) gets a TUN interface "mpi0" with address 10.77.0.i/24. Every IPv4 packet that a node
// sends is held for (its serialisation time at RATE, per sender) + DELAY, then written to the
// destination node. Order per destination is kept, nothing is dropped. Runs until killed.
// build: gcc -O2 -o delay_line delay_line.c
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#define MTU 65500 /* big packets: one system call per 64 KB */
#define MAXN 64
typedef struct pk {
  struct pk* next;
  long due;
  int len;
  unsigned char data[];
} pk;
static int fd[MAXN], n;
static pk *head[MAXN], *tail[MAXN]; /* queue per destination */
static long free_at[MAXN];          /* when the sender's link is idle again */

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int open_tun(const char* ns, int i) { /* enter namespace, make mpi0 there, return its fd */
  char s[256];
  snprintf(s, sizeof s, "/var/run/netns/%s", ns);
  int f = open(s, O_RDONLY);
  if (f < 0 || setns(f, CLONE_NEWNET)) {
    perror(s);
    exit(1);
  }
  close(f);
  int t = open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  struct ifreq r;
  memset(&r, 0, sizeof r);
  r.ifr_flags = IFF_TUN | IFF_NO_PI;
  strcpy(r.ifr_name, "mpi0");
  if (t < 0 || ioctl(t, TUNSETIFF, &r)) {
    perror("/dev/net/tun");
    exit(1);
  }
  snprintf(s, sizeof s,
           "ip link set lo up && ip link set mpi0 mtu %d txqueuelen 2000 up && ip addr add 10.77.0.%d/24 dev mpi0", MTU,
           i);
  if (system(s)) exit(1);
  return t;
}

int main(int c, char** v) {
  if (c < 5 || c > 3 + MAXN) {
    fprintf(stderr, "usage: %s DELAY_US RATE_MBIT NS1 NS2 ...\n", v[0]);
    return 2;
  }
  long delay = atof(v[1]) * 1000;
  double ns_per_byte = atof(v[2]) > 0 ? 8000.0 / atof(v[2]) : 0;
  int home = open("/proc/self/ns/net", O_RDONLY);
  for (int i = 3; i < c; i++) {
    int t = open_tun(v[i], i - 2);
    fd[n++] = t;
  }
  setns(home, CLONE_NEWNET);
  prctl(PR_SET_TIMERSLACK, 1000UL); /* 1 us instead of 50 us */
  printf("ready: %d nodes, delay %ld ns\n", n, delay);
  fflush(stdout);
  static struct pollfd pf[MAXN];
  static unsigned char b[70000];
  for (;;) {
    long t = now(), next = -1;
    for (int i = 0; i < n; i++) { /* deliver what is due */
      while (head[i] && head[i]->due <= t) {
        pk* q = head[i];
        if (write(fd[i], q->data, q->len) < 0 && errno == EAGAIN) break;
        head[i] = q->next;
        if (!head[i]) tail[i] = 0;
        free(q);
      }
      if (head[i] && (next < 0 || head[i]->due < next)) next = head[i]->due;
    }
    struct timespec ts, *tp = 0; /* sleep until the next packet is due or one arrives */
    if (next >= 0) {
      long w = next - now();
      if (w < 0) w = 0;
      ts.tv_sec = w / 1000000000L;
      ts.tv_nsec = w % 1000000000L;
      tp = &ts;
    }
    for (int i = 0; i < n; i++) {
      pf[i].fd = fd[i];
      pf[i].events = POLLIN;
    }
    if (ppoll(pf, n, tp, 0) <= 0) continue;
    for (int i = 0; i < n; i++)
      if (pf[i].revents & POLLIN)
        for (int k = 0; k < 16; k++) { /* accept at most 16 packets per sender and round */
          int l = read(fd[i], b, sizeof b);
          if (l <= 0) break;
          if ((b[0] >> 4) != 4 || b[16] != 10 || b[17] != 77) continue; /* IPv4 to 10.77/16 only */
          int d = b[19] - 1;
          if (d < 0 || d >= n) continue;
          long a = now(), start = free_at[i] > a ? free_at[i] : a;
          free_at[i] = start + (long)(l * ns_per_byte);
          pk* q = malloc(sizeof *q + l);
          q->next = 0;
          q->len = l;
          q->due = free_at[i] + delay;
          memcpy(q->data, b, l);
          if (tail[d]) {
            if (tail[d]->due > q->due) q->due = tail[d]->due;
            tail[d]->next = q;
          } else head[d] = q;
          tail[d] = q;
        }
  }
}
