// Measures collectives and messages of an MPI. Rank 0 reads commands from its standard input and answers each with one
// line.
//
//     set NAME VALUE                    writes a control variable of MPI_T (an integer) on all ranks
//     split GROUPS                      from now on, only the ranks of these groups call collectives, all groups at the
//                                       same time. Removes all communicators but number 0. "0-3;4-7": two groups;
//                                       "0-6:2": the ranks 0, 2, 4 and 6
//     new                               makes a communicator; answers its number. Number 0 is there from the start
//     check COLLECTIVE COMM BYTES ROOT  one call with known data: answers whether all results are right
//     repeat COLLECTIVE COMM BYTES ROOT N
//                                       the same with N calls. A barrier made of messages comes before each call
//     time COLLECTIVE COMM BYTES ROOT N WINDOW_NS
//                                       N calls: answers their times in ns, negative if a rank was late, and then
//                                       the counted functions that ran at least N times on all ranks. If the MPI shows
//                                       the messages of a nonblocking collective: "sends:" and the number that each
//                                       rank sends in a call, as in sends:1,0
//     pingpong - BYTES N                N round trips between the ranks 0 and 1: answers half of each time in ns
//     sockets - BUFFER                  connects the ranks 0 and 1 by TCP, without the MPI: answers the interface
//     socketpong - BYTES N              the same as pingpong, by this connection
//     nodes                             answers the number of nodes, and the most ranks on one of them; of the group
//                                       with the most
//     get NAME                          answers the value of a control variable of rank 0, and its name if it has one
//     peers - BYTES                     messages between all pairs of ranks, with one buffer
//     memory                            answers bytes of the rank with most memory: the most since the start or
//                                       the last such command (VmHWM), and now (VmRSS)
//     end
//
// Answers begin with "ok" or "error". The time of a call is that from the first start to the last end over all ranks,
// on the clock of rank 0. If WINDOW_NS > 0, all ranks start a call at the same time of this clock, WINDOW_NS after the
// previous call (S. Hunold and A. Carpen-Amarie, IEEE TPDS 27 (2016) 3617). If WINDOW_NS is 0, a barrier made of
// messages comes before each call. Use 0 for more ranks than cores, because the ranks then cannot all wait for a time.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "groups.h"
#include "messages.h"
#include "operations.h"
#include "ranks.h"
#include "sockets.h"
#include "timing.h"
#include "variables.h"

enum { most_communicators = 1024, most_counters = 512, tag = 7 };

typedef struct {
  char verb[16];
  char name[200];
  int64_t number[6];
  int64_t rest_bytes;  // of the text after the verb, with its end
} command;
static char* rest;  // this text

static MPI_Comm communicators[most_communicators];
static int communicator_count;
static char error_text[MPI_MAX_ERROR_STRING + 64];

static int say_error(const char* what) {
  snprintf(error_text, sizeof error_text, "%s", what);
  return 0;
}

static void finish_answer(void) {
  putchar('\n');
  fflush(stdout);
}

// Whether a call succeeded on all ranks. Rank 0 keeps the text of its own error, if there is one.
static int all_succeeded(int code) {
  if (on_all(code == MPI_SUCCESS)) return 1;
  int length = 0;
  snprintf(error_text, sizeof error_text, "another rank failed");
  if (code != MPI_SUCCESS) MPI_Error_string(code, error_text, &length);
  for (char* c = error_text; *c; ++c)
    if (*c == '\n') *c = ' ';
  return 0;
}

static int prepare(const command* c, const operation** what) {
  *what = find_operation(c->name);
  if (!*what) return say_error("there is no such collective");
  if (c->number[0] < 0 || c->number[0] >= communicator_count) return say_error("there is no such communicator");
  const int blocks = blocks_of(*what);
  if (c->number[1] < 0 || c->number[1] > INT32_MAX / blocks) return say_error("the message is too large");
  if (c->number[2] < 0 || c->number[2] >= group_size) return say_error("there is no such root");
  return on_all(make_room((size_t)c->number[1] * (size_t)blocks)) ||
         say_error("there is too little memory for the message");
}

static int check(const command* c) {
  const operation* what;
  if (!prepare(c, &what)) return 0;
  const int calls = group != MPI_COMM_NULL, bytes = (int)c->number[1], root = (int)c->number[2];
  if (calls) make_data(what, (size_t)bytes);
  if (!all_succeeded(calls ? call(what, communicators[c->number[0]], bytes, root) : MPI_SUCCESS)) return 0;
  return on_all(!calls || result_is_right(what, (size_t)bytes, root)) || say_error("a result is wrong");
}

static command repeated;  // the call whose result is kept, without the number of calls

static int is_as_before(const command* now, const operation* what, size_t bytes, int root) {
  if (memcmp(now, &repeated, sizeof *now) == 0) return result_is_kept(what, bytes, root);
  if (!result_is_right(what, bytes, root) || !keep_result(what, bytes)) return 0;
  repeated = *now;
  return 1;
}

// The result of the first call is compared with the right one, which takes long with many ranks. Later results must be
// the same to the last bit: all sums are exact.
static int repeat(const command* c) {
  const operation* what;
  command now = *c;
  const int calls = group != MPI_COMM_NULL, root = (int)c->number[2];
  const size_t bytes = (size_t)c->number[1];
  int right = 1, code = MPI_SUCCESS;
  now.number[3] = 0;
  if (!prepare(c, &what)) return 0;
  if (calls) make_data(what, bytes);
  for (int64_t i = 0; i < c->number[3]; ++i) {  // also after an error, because other ranks wait in the barrier
    if (calls) drop_result(what, bytes);
    barrier();
    if (!calls || code != MPI_SUCCESS) continue;
    code = call(what, communicators[c->number[0]], (int)bytes, root);
    if (code == MPI_SUCCESS) right &= is_as_before(&now, what, bytes, root);
  }
  if (!all_succeeded(code)) return 0;
  return on_all(right) || say_error("a result is wrong");
}

static void say_times(int64_t calls) {
  printf("ok");
  for (int64_t i = 0; i < calls; ++i) printf(" %lld", (long long)times[i]);
}

// Prints the number of messages of each rank in a call, if each call has the same number.
static void say_messages(int calls) {
  int64_t* of_rank = calloc((size_t)size, sizeof *of_rank);
  if (!of_rank) MPI_Abort(control, 1);
  gather(planned_messages(), of_rank);
  int64_t all = 0, rest = 0;
  for (int i = 0; i < size; ++i) all += of_rank[i], rest += of_rank[i] % calls;
  for (int i = 0; i < size && rank == 0 && all > 0 && rest == 0; ++i)
    printf("%s%lld", i == 0 ? " sends:" : ",", (long long)of_rank[i] / calls);
  free(of_rank);
}

static int time_calls(const command* c) {
  const operation* what;
  if (!prepare(c, &what)) return 0;
  const int calls = (int)c->number[3];
  if (calls < 1 || calls > most_calls) return say_error("that many calls cannot be made at once");
  reset_counters();
  reset_messages();
  const int code =
      timed_calls(what, communicators[c->number[0]], (int)c->number[1], (int)c->number[2], calls, c->number[4]);
  if (!all_succeeded(code)) return 0;
  collect_times(calls);
  if (rank == 0) say_times(calls);
  int64_t least[most_counters];
  const int counters = counter_count < most_counters ? counter_count : most_counters;
  for (int i = 0; i < counters; ++i) least[i] = group == MPI_COMM_NULL ? INT64_MAX : counted(i);
  smallest_of(least, counters);
  for (int i = 0; i < counters; ++i)
    if (rank == 0 && least[i] >= calls) printf(" %s", counter_name(i));
  if (group_size == size) say_messages(calls);
  return 1;
}

static int prepare_messages(int64_t bytes, int64_t calls) {
  if (size < 2) return say_error("there is only one rank");
  if (group_size != size) return say_error("the ranks are split");
  if (bytes < 0 || bytes > INT32_MAX || calls < 1 || calls > most_calls)
    return say_error("so many messages of this size cannot be sent at once");
  return on_all(rank > 1 || make_room((size_t)bytes)) || say_error("there is too little memory for the message");
}

// The first and the last byte of each message differ from those of the message before.
static int time_messages(const command* c) {
  const int64_t bytes = c->number[0], calls = c->number[1];
  if (!prepare_messages(bytes, calls)) return 0;
  int right = 1;
  unsigned char* data = message();
  for (int64_t i = 0; i < calls && rank < 2; ++i) {
    if (rank == 0 && bytes > 0) data[0] = data[bytes - 1] = (unsigned char)i;
    const int64_t begun = now_ns();
    if (rank == 0) MPI_Send(data, (int)bytes, MPI_BYTE, 1, tag, communicators[0]);
    MPI_Recv(data, (int)bytes, MPI_BYTE, 1 - rank, tag, communicators[0], MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(data, (int)bytes, MPI_BYTE, 0, tag, communicators[0]);
    times[i] = (now_ns() - begun) / 2;
    right &= bytes == 0 || (data[0] == (unsigned char)i && data[bytes - 1] == (unsigned char)i);
  }
  if (!on_all(right)) return say_error("a message is wrong");
  if (rank == 0) say_times(calls);
  return 1;
}

static int open_sockets(const command* c) {
  char interface[64] = "";
  const char* const failure = connect_sockets((int)c->number[0], interface);
  if (failure) return say_error(failure);
  if (rank == 0) printf("ok %s", interface);
  return 1;
}

static int time_by_sockets(const command* c) {
  const int64_t bytes = c->number[0], calls = c->number[1];
  if (!prepare_messages(bytes, calls)) return 0;
  const char* const failure = time_sockets(message(), bytes, calls, times);
  if (failure) return say_error(failure);
  if (rank == 0) say_times(calls);
  return 1;
}

// Each rank exchanges messages with each other rank, one after the other, so that each rank has connections to all.
static int exchange_with_all(const command* c) {
  const int64_t bytes = c->number[0];
  if (bytes < 0 || bytes > 1 << 24) return say_error("the message is too large");
  if (group_size != size) return say_error("the ranks are split");
  char* buffer = calloc(2, (size_t)bytes + 1);
  if (!on_all(buffer != NULL)) return say_error("there is too little memory for the message");
  for (int step = 1; step < size; ++step)
    MPI_Sendrecv(buffer, (int)bytes, MPI_BYTE, (rank + step) % size, tag, buffer + bytes + 1, (int)bytes, MPI_BYTE,
                 (rank - step + size) % size, tag, communicators[0], MPI_STATUS_IGNORE);
  free(buffer);
  return 1;
}

static int most_memory(void) {
  char line[256];
  long long most_kib = 0, now_kib = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) {
    sscanf(line, "VmHWM: %lld", &most_kib);
    sscanf(line, "VmRSS: %lld", &now_kib);
  }
  if (status) fclose(status);
  FILE* clear = fopen("/proc/self/clear_refs", "w");
  if (clear) fputs("5", clear), fclose(clear);  // the largest memory starts again
  const int64_t most = -smallest(-most_kib), now = -smallest(-now_kib);
  if (rank == 0) printf("ok %lld %lld", 1024 * (long long)most, 1024 * (long long)now);
  return 1;
}

static int count_nodes(void) {
  MPI_Comm node = MPI_COMM_NULL;
  int on_node = 0, place = 1, nodes = 0, code = MPI_SUCCESS;
  if (group != MPI_COMM_NULL)
    code = MPI_Comm_split_type(communicators[0], MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  if (!all_succeeded(code)) return 0;
  if (node != MPI_COMM_NULL) {
    MPI_Comm_size(node, &on_node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_free(&node);
    const int leads = place == 0;
    MPI_Allreduce(&leads, &nodes, 1, MPI_INT, MPI_SUM, communicators[0]);
  }
  const int64_t most_nodes = -smallest(-nodes), most = -smallest(-on_node);
  if (rank == 0) printf("ok %lld %lld", (long long)most_nodes, (long long)most);
  return 1;
}

// Makes a communicator with the next number.
static int add_communicator(void) {
  MPI_Comm* const made = &communicators[communicator_count];
  *made = MPI_COMM_NULL;
  if (!all_succeeded(group == MPI_COMM_NULL ? MPI_SUCCESS : MPI_Comm_dup(group, made))) return 0;
  if (*made != MPI_COMM_NULL) MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
  ++communicator_count;
  return 1;
}

// A mistake leaves the groups as they were.
static int split_ranks(void) {
  while (communicator_count > 0) {
    MPI_Comm* const last = &communicators[--communicator_count];
    if (*last != MPI_COMM_NULL) MPI_Comm_free(last);
  }
  memset(&repeated, 0, sizeof repeated);  // the same call has another result now
  const char* const mistake = split(rest);
  return add_communicator() && (!mistake || say_error(mistake));
}

static int execute(const command* c) {
  if (strcmp(c->verb, "nodes") == 0) {
    return count_nodes();
  } else if (strcmp(c->verb, "memory") == 0) {
    return most_memory();
  } else if (strcmp(c->verb, "get") == 0) {
    const char* const failure = rank == 0 ? print_variable(c->name) : NULL;
    return !failure || say_error(failure);
  } else if (strcmp(c->verb, "peers") == 0) {
    if (!exchange_with_all(c)) return 0;
  } else if (strcmp(c->verb, "set") == 0) {
    if (!on_all(!set_variable(c->name, (int)c->number[0]))) return say_error("the variable cannot be written");
  } else if (strcmp(c->verb, "new") == 0) {
    if (communicator_count == most_communicators) return say_error("there are too many communicators");
    if (!add_communicator()) return 0;
    if (rank == 0) printf("ok %d", communicator_count - 1);
    return 1;
  } else if (strcmp(c->verb, "split") == 0) {
    if (!split_ranks()) return 0;
  } else if (strcmp(c->verb, "check") == 0) {
    if (!check(c)) return 0;
  } else if (strcmp(c->verb, "repeat") == 0) {
    if (!repeat(c)) return 0;
  } else if (strcmp(c->verb, "time") == 0) {
    return time_calls(c);
  } else if (strcmp(c->verb, "pingpong") == 0) {
    return time_messages(c);
  } else if (strcmp(c->verb, "sockets") == 0) {
    return open_sockets(c);
  } else if (strcmp(c->verb, "socketpong") == 0) {
    return time_by_sockets(c);
  } else {
    return say_error("there is no such command");
  }
  if (rank == 0) printf("ok");
  return 1;
}

static int next_command(command* c) {
  static char* line;
  static size_t room;
  memset(c, 0, sizeof *c);
  int after_verb = 0;
  if (rank == 0) {
    if (getline(&line, &room, stdin) < 0) {
      strcpy(c->verb, "end");
    } else if (sscanf(line, "%15s %n", c->verb, &after_verb) == 1) {
      long long n[6] = {0};
      sscanf(line, "%*s %199s %lld %lld %lld %lld %lld", c->name, &n[0], &n[1], &n[2], &n[3], &n[4]);
      for (int i = 0; i < 6; ++i) c->number[i] = n[i];
      c->rest_bytes = (int64_t)strcspn(line + after_verb, "\r\n") + 1;
    }
  }
  broadcast(c, sizeof *c);
  if (strcmp(c->verb, "split") != 0) return strcmp(c->verb, "end") != 0;
  if (!(rest = realloc(rest, (size_t)c->rest_bytes))) MPI_Abort(control, 1);
  if (rank == 0) memcpy(rest, line + after_verb, (size_t)c->rest_bytes - 1), rest[c->rest_bytes - 1] = '\0';
  broadcast(rest, (int)c->rest_bytes);
  return 1;
}

static void describe(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  for (char* c = version; *c; ++c)
    if (*c == '\n' || *c == '\t') *c = ' ';
  if (rank == 0) printf("ok %d %s", size, version), finish_answer();
}

int main(int argc, char** argv) {
  int level;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_Init(&argc, &argv);
  join_ranks();
  join_whole_group();
  add_communicator();
  make_room_for_times();
  describe();
  command c;
  while (next_command(&c)) {
    const int succeeded = execute(&c);
    if (rank != 0) continue;
    if (!succeeded) printf("error %s", error_text);
    finish_answer();
  }
  MPI_Finalize();
  return 0;
}
