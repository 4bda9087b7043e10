// Rank 0 changes a file, and tells rank 1 so by one call of MPI after the other. Rank 1 has the old bytes in a buffer.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { record = 8, place = 64, tag = 1 };
static int rank, one = 1, two[2], counts[2] = {1, 1}, places[2] = {0, 1}, bytes[2] = {0, 4};
static MPI_Comm world;
static MPI_Datatype types[2];
static MPI_Request request;
static MPI_Win window;

static void wait_for_it(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
static void receive(void) { MPI_Recv(two, 1, MPI_INT, 0, tag, world, MPI_STATUS_IGNORE); }
static void begin_receive(void) { MPI_Irecv(two, 1, MPI_INT, 0, tag, world, &request); }

#define SENDS(name)                                   \
  static void by_##name(void) {                       \
    if (rank == 1) receive();                         \
    else MPI_##name(&one, 1, MPI_INT, 1, tag, world); \
  }
// clang-format off
SENDS(Send)
SENDS(Ssend)
SENDS(Bsend)
#define BEGINS(name)                                         \
  static void by_##name(void) {                              \
    if (rank == 1) receive();                                \
    else {                                                   \
      MPI_##name(&one, 1, MPI_INT, 1, tag, world, &request); \
      wait_for_it();                                         \
    }                                                        \
  }
BEGINS(Isend)
BEGINS(Issend) BEGINS(Ibsend)
#define COMPLETES(name, ...)                     \
  static void by_##name(void) {                  \
    int flag = 0, index = 0;                     \
    (void)index;                                 \
    if (rank == 0) {                             \
      MPI_Send(&one, 1, MPI_INT, 1, tag, world); \
      return;                                    \
    }                                            \
    begin_receive();                             \
    while (!flag) {                              \
      MPI_##name(__VA_ARGS__);                   \
    }                                            \
  }
COMPLETES(Wait, (flag = 1, &request), MPI_STATUS_IGNORE)
COMPLETES(Waitall, (flag = 1), &request, MPI_STATUSES_IGNORE)
COMPLETES(Waitany, (flag = 1), &request, &index, MPI_STATUS_IGNORE)
COMPLETES(Waitsome, (flag = 1), &request, two, &index, MPI_STATUSES_IGNORE)
COMPLETES(Test, &request, &flag, MPI_STATUS_IGNORE)
COMPLETES(Testall, 1, &request, &flag, MPI_STATUSES_IGNORE)
COMPLETES(Testany, 1, &request, &index, &flag, MPI_STATUS_IGNORE)
COMPLETES(Testsome, 1, &request, &flag, &index,
                                          MPI_STATUSES_IGNORE) static void by_Start(void) {
  if (rank == 1) return receive();
  MPI_Send_init(&one, 1, MPI_INT, 1, tag, world, &request);
  MPI_Start(&request);
  wait_for_it();
  MPI_Request_free(&request);
}
static void by_Startall(void) {
  if (rank == 1) return receive();
  MPI_Send_init(&one, 1, MPI_INT, 1, tag, world, &request);
  MPI_Startall(1, &request);
  wait_for_it();
  MPI_Request_free(&request);
}
static void by_Mrecv(void) {
  MPI_Message message;
  if (rank == 0) {
    MPI_Send(&one, 1, MPI_INT, 1, tag, world);
    return;
  }
  MPI_Mprobe(0, tag, world, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(two, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}
/// The message is received later.
static int probed;
static void by_Probe(void) {
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, tag, world);
  else MPI_Probe(0, tag, world, MPI_STATUS_IGNORE), probed = 1;
}
static void by_Iprobe(void) {
  if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, tag, world);
  while (rank == 1 && !probed) MPI_Iprobe(0, tag, world, &probed, MPI_STATUS_IGNORE);
}
static void by_Sendrecv(void) {
  MPI_Sendrecv(&one, 1, MPI_INT, 1 - rank, tag, two, 1, MPI_INT, 1 - rank, tag, world, MPI_STATUS_IGNORE);
}
static void by_Sendrecv_replace(void) {
  MPI_Sendrecv_replace(two, 1, MPI_INT, 1 - rank, tag, 1 - rank, tag, world, MPI_STATUS_IGNORE);
}
#define COLLECTIVE(name, ...)                              \
  static void by_##name(void) { MPI_##name(__VA_ARGS__); } \
  static void by_I##name(void) {                           \
    MPI_I##name(__VA_ARGS__, &request);                    \
    wait_for_it();                                         \
  }
#define MPI_IBarrier MPI_Ibarrier
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
static int pair[2] = {1, 1}, results[2];
COLLECTIVE(Barrier, world)
COLLECTIVE(Bcast, two, 1, MPI_INT, 0, world)
COLLECTIVE(Gather, &one, 1, MPI_INT, results, 1, MPI_INT, 1, world)
COLLECTIVE(Gatherv, &one, 1, MPI_INT, results, counts, places, MPI_INT, 1, world)
COLLECTIVE(Scatter, pair, 1, MPI_INT, results, 1, MPI_INT, 0, world)
COLLECTIVE(Scatterv, pair, counts, places, MPI_INT, results, 1, MPI_INT, 0, world)
COLLECTIVE(Allgather, &one, 1, MPI_INT, results, 1, MPI_INT, world)
COLLECTIVE(Allgatherv, &one, 1, MPI_INT, results, counts, places, MPI_INT, world)
COLLECTIVE(Alltoall, pair, 1, MPI_INT, results, 1, MPI_INT, world)
COLLECTIVE(Alltoallv, pair, counts, places, MPI_INT, results, counts, places, MPI_INT, world)
COLLECTIVE(Alltoallw, pair, counts, bytes, types, results, counts, bytes, types, world)
COLLECTIVE(Reduce, &one, results, 1, MPI_INT, MPI_SUM, 1, world)
COLLECTIVE(Allreduce, &one, results, 1, MPI_INT, MPI_SUM, world)
COLLECTIVE(Reduce_scatter, pair, results, counts, MPI_INT, MPI_SUM, world)
COLLECTIVE(Reduce_scatter_block, pair, results, 1, MPI_INT, MPI_SUM, world)
COLLECTIVE(Scan, &one, results, 1, MPI_INT, MPI_SUM, world)
COLLECTIVE(Exscan, &one, results, 1, MPI_INT, MPI_SUM, world)
static void by_Comm_split(void) {
  MPI_Comm part;
  MPI_Comm_split(world, 0, rank, &part);
  MPI_Comm_free(&part);
}
static void by_Win_fence(void) {
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
}
static void by_Win_complete(void) {
  MPI_Group all, other;
  const int partner = 1 - rank;
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 1, &partner, &other);
  if (rank == 0) {
    MPI_Win_start(other, 0, window);
    MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
  } else {
    MPI_Win_post(other, 0, window);
    MPI_Win_wait(window);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&other);
}
// clang-format on
#define WAY(name) \
  { #name, by_##name }
#define WAYS(name, small) \
  {#name, by_##name}, { "I" small, by_I##name }
static const struct {
  const char* name;
  void (*run)(void);
} ways[] = {WAY(Send),
            WAY(Ssend),
            WAY(Bsend),
            WAY(Isend),
            WAY(Issend),
            WAY(Ibsend),
            WAY(Start),
            WAY(Startall),
            WAY(Wait),
            WAY(Waitall),
            WAY(Waitany),
            WAY(Waitsome),
            WAY(Test),
            WAY(Testall),
            WAY(Testany),
            WAY(Testsome),
            WAY(Mrecv),
            WAY(Probe),
            WAY(Iprobe),
            WAY(Sendrecv),
            WAY(Sendrecv_replace),
            WAYS(Barrier, "barrier"),
            WAYS(Bcast, "bcast"),
            WAYS(Gather, "gather"),
            WAYS(Gatherv, "gatherv"),
            WAYS(Scatter, "scatter"),
            WAYS(Scatterv, "scatterv"),
            WAYS(Allgather, "allgather"),
            WAYS(Allgatherv, "allgatherv"),
            WAYS(Alltoall, "alltoall"),
            WAYS(Alltoallv, "alltoallv"),
            WAYS(Alltoallw, "alltoallw"),
            WAYS(Reduce, "reduce"),
            WAYS(Allreduce, "allreduce"),
            WAYS(Reduce_scatter, "reduce_scatter"),
            WAYS(Reduce_scatter_block, "reduce_scatter_block"),
            WAYS(Scan, "scan"),
            WAYS(Exscan, "exscan"),
            WAY(Comm_split),
            WAY(Win_fence),
            WAY(Win_complete)};
enum { all_ways = sizeof ways / sizeof *ways };

/// In sequence, so that the library keeps them.
static int sees(int fd, int way) {
  char got[record + 1] = "", expected[record + 1];
  for (int at = 0; at < place; at += record) {
    if (pread(fd, got, record, at) != record) return 0;
  }
  snprintf(expected, sizeof expected, "%08d", way);
  return pread(fd, got, record, place) == record && memcmp(got, expected, record) == 0;
}
static void change(int fd, int way) {
  char text[record + 1];
  snprintf(text, sizeof text, "%08d", way);
  if (pwrite(fd, text, record, place) != record) MPI_Abort(MPI_COMM_WORLD, 1);
}
/// Past MPI and all libraries: rank 1 has the old bytes now.
static void await_reader(int way) {
  char name[32];
  snprintf(name, sizeof name, "ready%d", way);
  if (rank == 1) syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_WRONLY, 0644));
  while (rank == 0 && syscall(SYS_faccessat, AT_FDCWD, name, F_OK) != 0) usleep(100);
}

int main(int count, char** words) {
  static char zeros[place + record], room[1000];
  int wrong = 0;
  MPI_Init(&count, &words);
  world = MPI_COMM_WORLD;
  types[0] = types[1] = MPI_INT;
  MPI_Comm_rank(world, &rank);
  MPI_Buffer_attach(room, sizeof room);
  int* remote;
  MPI_Win_allocate(sizeof *remote, 4, MPI_INFO_NULL, world, &remote, &window);
  const int fd = open(words[1], O_CREAT | O_RDWR, 0644);
  if (rank == 0 && write(fd, zeros, sizeof zeros) != sizeof zeros) return 1;
  for (int way = 0; way < all_ways; ++way) {
    if (rank == 0) change(fd, 0);
    MPI_Barrier(world);
    if (rank == 1 && !sees(fd, 0)) printf("before %s: wrong\n", ways[way].name);
    await_reader(way);
    if (rank == 0) change(fd, way + 1);
    ways[way].run();
    if (rank == 1 && !sees(fd, way + 1)) {
      printf("%s\n", ways[way].name);
      ++wrong;
    }
    if (probed) receive();
    probed = 0;
    MPI_Barrier(world);
  }
  if (rank == 1) printf("%d of %d calls did not tell\n", wrong, all_ways);
  MPI_Win_free(&window);
  return MPI_Finalize();
}
