// mpich_yield.so -- LD_PRELOAD (for mpirun and ranks) for Debian MPICH 4.0.2 over UCX/TCP:
// - sched_yield() after every idle ucp_worker_progress(): without it ranks that poll never yield, and more ranks than
//   cores crawl
// - setsid() opens no new session in Hydra, so that all ranks share one scheduler autogroup and yielding works between
//   them (matters where kernel.sched_autogroup_enabled is 1)
// - MPI_Finalize hangs otherwise with 2 or more ranks on each of 2 or more nodes: a rank that closes its UCX endpoints
//   waits for peers that already sit in the blocking PMI barrier. Here endpoints are left for process exit to close.
//   Programs should call MPI_Barrier(MPI_COMM_WORLD) just before MPI_Finalize.
// build: gcc -O2 -shared -fPIC -o mpich_yield.so mpich_yield.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>
pid_t setsid(void) {
  setpgid(0, 0);
  return getpid();
}
unsigned ucp_worker_progress(void* w) {
  static unsigned (*real)(void*);
  if (!real) real = dlsym(dlopen("libucp.so.0", RTLD_LAZY), "ucp_worker_progress");
  unsigned r = real(w);
  if (!r) sched_yield();
  return r;
}
void* ucp_disconnect_nb(void* ep) {
  (void)ep;
  return 0; /* UCS_OK: done */
}
