// One-sided communication in every way. It knows its own traffic.
#include "known_traffic.h"

enum { n = 4, bytes = n * (int)sizeof(int) };
static int there[n], back[n], next;
static MPI_Request request;

#define FIRST "world/window 1"
static MPI_Win first;

static void put_and_get(void) {
  CALL(MPI_Win_fence, FIRST, 0, 0, first);
  CALL(MPI_Put, FIRST, bytes, there, n, MPI_INT, next, 0, n, MPI_INT, first);
  CALL(MPI_Put, FIRST, 0, there, n, MPI_INT, MPI_PROC_NULL, 0, n, MPI_INT, first);
  CALL(MPI_Win_fence, FIRST, 0, 0, first);
  CALL(MPI_Get, FIRST, bytes / 2, back, n / 2, MPI_INT, next, 0, n / 2, MPI_INT, first);
  CALL(MPI_Win_fence, FIRST, 0, 0, first);
  CALL(MPI_Accumulate, FIRST, bytes, there, n, MPI_INT, next, 0, n, MPI_INT, MPI_SUM, first);
  CALL(MPI_Win_fence, FIRST, 0, 0, first);
  CALL(MPI_Get_accumulate, FIRST, bytes, NULL, 0, MPI_INT, back, n, MPI_INT, next, 0, n, MPI_INT, MPI_NO_OP, first);
  CALL(MPI_Win_fence, FIRST, 0, 0, first);
}

static void with_requests(void) {
  CALL(MPI_Rput, FIRST, bytes, there, n, MPI_INT, next, 0, n, MPI_INT, first, &request);
  CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE);
  CALL(MPI_Rget, FIRST, bytes, back, n, MPI_INT, next, 0, n, MPI_INT, first, &request);
  CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE);
  CALL(MPI_Raccumulate, FIRST, bytes, there, n, MPI_INT, next, 0, n, MPI_INT, MPI_SUM, first, &request);
  CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE);
  CALL(MPI_Rget_accumulate, FIRST, bytes, there, n, MPI_INT, back, n, MPI_INT, next, 0, n, MPI_INT, MPI_SUM, first,
       &request);
  CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE);
}

static void with_locks(void) {
  CALL(MPI_Win_lock, FIRST, 0, MPI_LOCK_SHARED, next, 0, first);
  CALL(MPI_Fetch_and_op, FIRST, sizeof(int), there, back, MPI_INT, next, 0, MPI_SUM, first);
  CALL(MPI_Win_flush, FIRST, 0, next, first);
  CALL(MPI_Compare_and_swap, FIRST, sizeof(int), there, there, back, MPI_INT, next, 0, first);
  CALL(MPI_Win_flush_local, FIRST, 0, next, first);
  CALL(MPI_Win_unlock, FIRST, 0, next, first);
  CALL(MPI_Win_lock_all, FIRST, 0, 0, first);
  with_requests();
  CALL(MPI_Win_flush_all, FIRST, 0, first);
  CALL(MPI_Win_flush_local_all, FIRST, 0, first);
  CALL(MPI_Win_sync, FIRST, 0, first);
  CALL(MPI_Win_unlock_all, FIRST, 0, first);
}

/// The second time with MPI_Win_test.
static void with_posts(int tests) {
  MPI_Group all, from, to;
  const int last = (rank + size - 1) % size;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &last, &from);
  MPI_Group_incl(all, 1, &next, &to);
  CALL(MPI_Win_post, FIRST, 0, from, 0, first);
  CALL(MPI_Win_start, FIRST, 0, to, 0, first);
  CALL(MPI_Put, FIRST, bytes, there, n, MPI_INT, next, 0, n, MPI_INT, first);
  CALL(MPI_Win_complete, FIRST, 0, first);
  if (!tests) CALL(MPI_Win_wait, FIRST, 0, first);
  for (int flag = 0; tests && !flag;) CALL(MPI_Win_test, FIRST, 0, first, &flag);
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&all);
}

static void of_every_kind(void) {
  MPI_Win allocated, shared, dynamic;
  void* base;
  CALL(MPI_Win_allocate, "world", 0, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &allocated);
  CALL(MPI_Win_allocate_shared, "world", 0, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &shared);
  CALL(MPI_Win_create_dynamic, "world", 0, MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  CALL(MPI_Win_fence, "world/window 2", 0, 0, allocated);
  CALL(MPI_Win_attach, "world/window 4", 0, dynamic, there, sizeof there);
  CALL(MPI_Win_detach, "world/window 4", 0, dynamic, there);
  MPI_Info info;
  MPI_Info_create(&info);
  CALL(MPI_Win_set_info, "world/window 2", 0, allocated, info);
  MPI_Info_free(&info);
  CALL(MPI_Win_free, "world/window 2", 0, &allocated);
  CALL(MPI_Win_free, "world/window 3", 0, &shared);
  CALL(MPI_Win_free, "world/window 4", 0, &dynamic);
}

int main(int count, char** words) {
  static int memory[n];
  begin(&count, &words);
  next = (rank + 1) % size;
  CALL(MPI_Win_create, "world", 0, memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &first);
  put_and_get();
  with_posts(0);
  with_posts(1);
  with_locks();
  CALL(MPI_Win_free, FIRST, 0, &first);
  of_every_kind();
  end();
}
