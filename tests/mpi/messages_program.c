// Messages between two ranks in every way. It knows its own traffic.
#include "known_traffic.h"

enum { n = 6, bytes = n * (int)sizeof(int) };
static int there[n], back[n], next, last, tag;
static MPI_Request request;

static void receive(void) {
  CALL(MPI_Recv, "world", bytes, back, n, MPI_INT, last, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void finish(void) { CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE); }

/// A receive is ready before the message comes.
static void expect_message(MPI_Request* receiving) {
  CALL(MPI_Irecv, "world", bytes, back, n, MPI_INT, last, ++tag, MPI_COMM_WORLD, receiving);
  CALL(MPI_Barrier, "world", 0, MPI_COMM_WORLD);
}

#define SEND(function)                                                            \
  do {                                                                            \
    MPI_Request receiving;                                                        \
    expect_message(&receiving);                                                   \
    CALL(function, "world", bytes, there, n, MPI_INT, next, tag, MPI_COMM_WORLD); \
    CALL(MPI_Wait, "", 0, &receiving, MPI_STATUS_IGNORE);                         \
  } while (0)
#define ISEND(function)                                                                     \
  do {                                                                                      \
    MPI_Request receiving;                                                                  \
    expect_message(&receiving);                                                             \
    CALL(function, "world", bytes, there, n, MPI_INT, next, tag, MPI_COMM_WORLD, &request); \
    finish();                                                                               \
    CALL(MPI_Wait, "", 0, &receiving, MPI_STATUS_IGNORE);                                   \
  } while (0)

static void send_in_every_way(void) {
  SEND(MPI_Send);
  SEND(MPI_Ssend);
  SEND(MPI_Bsend);
  SEND(MPI_Rsend);
  ISEND(MPI_Isend);
  ISEND(MPI_Issend);
  ISEND(MPI_Ibsend);
  ISEND(MPI_Irsend);
  CALL(MPI_Send, "world", 0, there, n, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  CALL(MPI_Irecv, "world", 0, back, n, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
  finish();
  CALL(MPI_Sendrecv, "world", bytes, there, n, MPI_INT, next, 0, back, n, MPI_INT, last, 0, MPI_COMM_WORLD,
       MPI_STATUS_IGNORE);
  CALL(MPI_Sendrecv_replace, "world", bytes, back, n, MPI_INT, next, 0, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#if HAS_MPI_4
  CALL(MPI_Isendrecv, "world", bytes, there, n, MPI_INT, next, 0, back, n, MPI_INT, last, 0, MPI_COMM_WORLD, &request);
  finish();
  CALL(MPI_Isendrecv_replace, "world", bytes, back, n, MPI_INT, next, 0, last, 0, MPI_COMM_WORLD, &request);
  finish();
#endif
#if MPI_VERSION >= 4
  CALL(MPI_Send_c, "world", bytes, there, n, MPI_INT, next, ++tag, MPI_COMM_WORLD);
  receive();
#endif
}

static void look_first(void) {
  MPI_Message message;
  int flag = 0;
  ++tag;
  CALL(MPI_Isend, "world", bytes, there, n, MPI_INT, next, tag, MPI_COMM_WORLD, &request);
  CALL(MPI_Probe, "world", 0, last, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  while (!flag) CALL(MPI_Iprobe, "world", 0, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CALL(MPI_Mprobe, "world", 0, last, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  CALL(MPI_Mrecv, "", bytes, back, n, MPI_INT, &message, MPI_STATUS_IGNORE);
  finish();
  CALL(MPI_Isend, "world", bytes, there, n, MPI_INT, next, tag, MPI_COMM_WORLD, &request);
  for (flag = 0; !flag;) CALL(MPI_Improbe, "world", 0, last, tag, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  finish();
  CALL(MPI_Imrecv, "", bytes, back, n, MPI_INT, &message, &request);
  finish();
}

#define PERSISTENT(function, datatype)                                                       \
  do {                                                                                       \
    CALL(function, "world", 0, there, n, datatype, next, ++tag, MPI_COMM_WORLD, &both[0]);   \
    CALL(MPI_Recv_init, "world", 0, back, n, datatype, last, tag, MPI_COMM_WORLD, &both[1]); \
    for (int k = 0; k < 3; ++k) {                                                            \
      expect(#function " started", "world", bytes);                                          \
      expect("MPI_Recv_init started", "world", bytes);                                       \
      CALL(MPI_Startall, "", 0, 2, both);                                                    \
      finish_both(k);                                                                        \
    }                                                                                        \
    for (int k = 0; k < 2; ++k) CALL(MPI_Request_free, "", 0, &both[k]);                     \
  } while (0)

static MPI_Request both[2];

static void finish_both(int way) {
  int index = 0, done = 0, flag = 0, indices[2];
  if (way == 0) CALL(MPI_Waitall, "", 0, 2, both, MPI_STATUSES_IGNORE);
  for (int all = 0; way == 1 && all < 2; ++all) CALL(MPI_Waitany, "", 0, 2, both, &index, MPI_STATUS_IGNORE);
  for (int all = 0; way == 2 && all < 2; all += done)
    CALL(MPI_Waitsome, "", 0, 2, both, &done, indices, MPI_STATUSES_IGNORE);
  CALL(MPI_Testall, "", 0, 2, both, &flag, MPI_STATUSES_IGNORE);  // none of them is active
}

static void test_in_every_way(void) {
  int flag = 0, index = 0, done = 0, indices[1];
  CALL(MPI_Test, "", 0, &request, &flag, MPI_STATUS_IGNORE);
  CALL(MPI_Testany, "", 0, 1, &request, &index, &flag, MPI_STATUS_IGNORE);
  CALL(MPI_Testsome, "", 0, 1, &request, &done, indices, MPI_STATUSES_IGNORE);
}

static void send_persistently(void) {
  PERSISTENT(MPI_Send_init, MPI_INT);
  PERSISTENT(MPI_Ssend_init, MPI_FLOAT);
  PERSISTENT(MPI_Bsend_init, MPI_INT);
  MPI_Request receiving;  // a ready send needs a receive that is there
  CALL(MPI_Rsend_init, "world", 0, there, n, MPI_INT, next, tag + 1, MPI_COMM_WORLD, &request);
  expect_message(&receiving);
  expect("MPI_Rsend_init started", "world", bytes);
  CALL(MPI_Start, "", 0, &request);
  finish();
  CALL(MPI_Request_free, "", 0, &request);
  CALL(MPI_Wait, "", 0, &receiving, MPI_STATUS_IGNORE);
}

static void send_parts(void) {
#if HAS_MPI_4
  int flag = 0;
  const int second = 1;
  CALL(MPI_Psend_init, "world", 0, there, 3, n / 3, MPI_INT, next, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  CALL(MPI_Precv_init, "world", 0, back, 3, n / 3, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  for (int run = 0; run < runs; ++run) {
    expect("MPI_Psend_init started", "world", bytes);
    expect("MPI_Precv_init started", "world", bytes);
    CALL(MPI_Startall, "", 0, 2, both);
    CALL(MPI_Pready, "", 0, 2, both[0]);
    CALL(MPI_Pready_list, "", 0, 1, (void*)&second, both[0]);
    CALL(MPI_Pready_range, "", 0, 0, 0, both[0]);
    for (flag = 0; !flag;) CALL(MPI_Parrived, "", 0, both[1], 2, &flag);
    CALL(MPI_Waitall, "", 0, 2, both, MPI_STATUSES_IGNORE);
  }
  for (int k = 0; k < 2; ++k) CALL(MPI_Request_free, "", 0, &both[k]);
#endif
}

/// These leave the request to a function that waits for it.
static void look_at_requests(void) {
  int flag = 0;
  CALL(MPI_Irecv, "world", bytes, back, n, MPI_INT, last, ++tag, MPI_COMM_WORLD, &both[1]);
  CALL(MPI_Isend, "world", bytes, there, n, MPI_INT, next, tag, MPI_COMM_WORLD, &both[0]);
  for (int k = 0; k < 2; ++k)
    for (flag = 0; !flag;) CALL(MPI_Request_get_status, "", 0, both[k], &flag, MPI_STATUS_IGNORE);
#if HAS_MPI_4_1
  int index = 0, done = 0, indices[2];
  CALL(MPI_Request_get_status_all, "", 0, 2, both, &flag, MPI_STATUSES_IGNORE);
  CALL(MPI_Request_get_status_any, "", 0, 2, both, &index, &flag, MPI_STATUS_IGNORE);
  CALL(MPI_Request_get_status_some, "", 0, 2, both, &done, indices, MPI_STATUSES_IGNORE);
#endif
  CALL(MPI_Waitall, "", 0, 2, both, MPI_STATUSES_IGNORE);
  CALL(MPI_Irecv, "world", bytes, back, n, MPI_INT, last, ++tag, MPI_COMM_WORLD, &request);
  CALL(MPI_Cancel, "", 0, &request);
  finish();
}

static int answer(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int forget(void* state) { return (void)state, MPI_SUCCESS; }
static int give_up(void* state, int done) { return (void)state, (void)done, MPI_SUCCESS; }

static void with_own_requests(void) {
  CALL(MPI_Grequest_start, "", 0, answer, forget, give_up, NULL, &request);
  CALL(MPI_Grequest_complete, "", 0, request);
  finish();
}

static char buffer[1 << 14];

static void empty_buffers(void) {
  void* attached;
  int room;
#if HAS_MPI_4_1
  CALL(MPI_Buffer_flush, "", 0);
  CALL(MPI_Buffer_iflush, "", 0, &request);
  finish();
#endif
  CALL(MPI_Buffer_detach, "", 0, &attached, &room);
#if MPI_VERSION >= 4
  MPI_Count large;
  MPI_Buffer_attach(buffer, sizeof buffer);
  CALL(MPI_Buffer_detach_c, "", 0, &attached, &large);
#endif
#if HAS_MPI_4_1
  MPI_Comm_attach_buffer(MPI_COMM_WORLD, buffer, sizeof buffer);
  CALL(MPI_Comm_flush_buffer, "world", 0, MPI_COMM_WORLD);
  CALL(MPI_Comm_iflush_buffer, "world", 0, MPI_COMM_WORLD, &request);
  finish();
  CALL(MPI_Comm_detach_buffer, "world", 0, MPI_COMM_WORLD, &attached, &room);
#endif
}

int main(int count, char** words) {
  begin(&count, &words);
  next = (rank + 1) % size;
  last = (rank + size - 1) % size;
  MPI_Buffer_attach(buffer, sizeof buffer);
  send_in_every_way();
  look_first();
  test_in_every_way();
  send_persistently();
  send_parts();
  look_at_requests();
  with_own_requests();
  empty_buffers();
  end();
}
