/* probe_cost REPETITIONS [threads]: how long cheap calls of MPI take, passed through the probe of culmen profile and
 * past it, in one process and in turn. The probe is preloaded. threads: with MPI_THREAD_MULTIPLE. One JSON line: for
 * each kind of call, ns a call past the probe, and the median of the time that the probe adds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { calls = 3000, most_repetitions = 10000 };
static int (*iprobe)(int, int, MPI_Comm, int*, MPI_Status*);
static int (*bcast)(void*, int, MPI_Datatype, int, MPI_Comm);
static int (*allreduce)(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
static int (*send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
static int (*irecv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
static int (*wait)(MPI_Request*, MPI_Status*);

static int find_mpi(struct dl_phdr_info* info, size_t size, void* library) {
  (void)size;
  if (strstr(info->dlpi_name, "/libmpi.so") == NULL && strstr(info->dlpi_name, "/libmpich.so") == NULL) return 0;
  *(void**)library = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return 1;
}

static void choose(int past) {
  static void* mpi;
  if (mpi == NULL) dl_iterate_phdr(find_mpi, &mpi);
#define CHOOSE(pointer, name) pointer = past ? (__typeof(pointer))dlsym(mpi, "P" #name) : name
  CHOOSE(iprobe, MPI_Iprobe);
  CHOOSE(bcast, MPI_Bcast);
  CHOOSE(allreduce, MPI_Allreduce);
  CHOOSE(send, MPI_Send);
  CHOOSE(irecv, MPI_Irecv);
  CHOOSE(wait, MPI_Wait);
}

static double there[8], back[8];

static void look(MPI_Comm comm) {
  int flag;
  iprobe(0, 7, comm, &flag, MPI_STATUS_IGNORE);
}
static void spread(MPI_Comm comm) { bcast(there, 1, MPI_DOUBLE, 0, comm); }
static void sum(MPI_Comm comm) { allreduce(there, back, 1, MPI_DOUBLE, MPI_SUM, comm); }
static void talk(MPI_Comm comm) {
  MPI_Request request;
  irecv(back, 1, MPI_DOUBLE, 0, 0, comm, &request);
  send(there, 1, MPI_DOUBLE, 0, 0, comm);
  wait(&request, MPI_STATUS_IGNORE);
}
static const struct {
  const char* name;
  void (*run)(MPI_Comm);
  int calls;
} kinds[] = {{"iprobe", look, 1}, {"bcast", spread, 1}, {"allreduce", sum, 1}, {"irecv_send_wait", talk, 3}};

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static double ns_a_call(int kind) {
  const double begin = now_ns();
  for (int k = 0; k < calls; ++k) kinds[kind].run(MPI_COMM_SELF);
  return (now_ns() - begin) / calls / kinds[kind].calls;
}

static int compare(const void* a, const void* b) { return (*(double*)a > *(double*)b) - (*(double*)a < *(double*)b); }
static double median(double* values, int n) {
  qsort(values, (size_t)n, sizeof *values, compare);
  return values[n / 2];
}

int main(int n, char** words) {
  const int repetitions = n >= 2 ? atoi(words[1]) : 0, threads = n == 3 && strcmp(words[2], "threads") == 0;
  if (n > 2 + threads || repetitions < 1 || repetitions > most_repetitions) {
    fprintf(stderr, "usage: probe_cost REPETITIONS [threads]\n");
    return 2;
  }
  static double past[most_repetitions], more[most_repetitions];
  int level;
  MPI_Init_thread(&n, &words, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  for (int kind = 0; kind < (int)(sizeof kinds / sizeof *kinds); ++kind) {
    for (int k = -3; k < repetitions; ++k) {
      double took[2];
      for (int turn = 0; turn < 2; ++turn) {
        const int way = (k + turn) & 1;  // the order changes
        choose(way);
        took[way] = ns_a_call(kind);
      }
      if (k < 0) continue;  // warm-up
      past[k] = took[1];
      more[k] = took[0] - took[1];
    }
    printf("%s\"%s_bare_ns\": %.2f, \"%s_probe_ns\": %.2f", kind == 0 ? "{" : ", ", kinds[kind].name,
           median(past, repetitions), kinds[kind].name, median(more, repetitions));
  }
  printf("}\n");
  MPI_Finalize();
  return 0;
}
