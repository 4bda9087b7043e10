// Makes communicators in every way. It knows its own traffic.
#include "known_traffic.h"

static void use(MPI_Comm* comm, const char* name) {
  if (*comm == MPI_COMM_NULL) return;
  CALL(MPI_Barrier, name, 0, *comm);
  CALL(MPI_Comm_free, name, 0, comm);
}

static void copy_and_divide(void) {
  MPI_Comm made = MPI_COMM_NULL;
  CALL(MPI_Comm_dup, "world", 0, MPI_COMM_WORLD, &made);
  use(&made, "world/dup 1");
  CALL(MPI_Comm_dup_with_info, "world", 0, MPI_COMM_WORLD, MPI_INFO_NULL, &made);
  use(&made, "world/dup 2");
  CALL(MPI_Comm_split, "world", 0, MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 7, 0, &made);
  use(&made, "world/split 1 colour 7");
  CALL(MPI_Comm_split_type, "world", 0, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  use(&made, "world/split_type 1");
}

/// One of them in a part of the ranks.
static void of_groups(void) {
  MPI_Comm made;
  MPI_Group all, first;
  const int zero = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &zero, &first);
  if (rank == 0) {
    CALL(MPI_Comm_create_group, "world", 0, MPI_COMM_WORLD, first, 0, &made);
    use(&made, "world/create_group 1 ranks 0");
  }
  CALL(MPI_Comm_create, "world", 0, MPI_COMM_WORLD, all, &made);
  use(&made, "world/create 1");
  MPI_Group_free(&first);
  MPI_Group_free(&all);
}

static void with_topologies(void) {
  MPI_Comm grid, made;
  const int dims[2] = {size, 1}, periods[2] = {1, 0}, keep[2] = {1, 0}, next = (rank + 1) % size, one = 1;
  int* const index = malloc((size_t)size * sizeof(int));
  int* const edges = malloc((size_t)size * sizeof(int));
  for (int k = 0; k < size; ++k) index[k] = k + 1, edges[k] = (k + 1) % size;
  CALL(MPI_Cart_create, "world", 0, MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  CALL(MPI_Cart_sub, "world/cart 1", 0, grid, keep, &made);
  use(&made, "world/cart 1/cart_sub 1");
  use(&grid, "world/cart 1");
  CALL(MPI_Graph_create, "world", 0, MPI_COMM_WORLD, size, index, edges, 0, &made);
  use(&made, "world/graph 1");
  CALL(MPI_Dist_graph_create, "world", 0, MPI_COMM_WORLD, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
       &made);
  use(&made, "world/dist_graph 1");
  free(index);
  free(edges);
}

static void between_groups(void) {
  MPI_Comm half, inter, merged;
  char name[64], of[128];
  const int evens = (size + 1) / 2, odds = size / 2;
  static char there[16], back[1024];
  snprintf(name, sizeof name, "world/split 2 colour %d", rank % 2);
  CALL(MPI_Comm_split, "world", 0, MPI_COMM_WORLD, rank % 2, 0, &half);
  CALL(MPI_Intercomm_create, name, 0, half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
  snprintf(of, sizeof of, "inter 1 ranks 0%s|1", size > 2 ? ",2" : "");  // two or three ranks
  CALL(MPI_Alltoall, of, 4 * (rank % 2 == 0 ? odds : evens), back, 4, MPI_CHAR, back + 512, 4, MPI_CHAR, inter);
  const int root = rank % 2 == 1 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  CALL(MPI_Bcast, of, root == MPI_PROC_NULL ? 0 : 16, there, 16, MPI_CHAR, root, inter);
  CALL(MPI_Intercomm_merge, of, 0, inter, rank % 2, &merged);
  strcat(of, "/merge 1");
  use(&merged, of);
  of[strlen(of) - strlen("/merge 1")] = '\0';
  CALL(MPI_Comm_disconnect, of, 0, &inter);
  CALL(MPI_Comm_free, name, 0, &half);
}

static void at_leisure(void) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request;
  CALL(MPI_Comm_idup, "world", 0, MPI_COMM_WORLD, &made, &request);
  CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE);
  use(&made, "world/idup 1");
#if HAS_MPI_4
  CALL(MPI_Comm_idup_with_info, "world", 0, MPI_COMM_WORLD, MPI_INFO_NULL, &made, &request);
  CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE);
  use(&made, "world/idup 2");
#endif
}

/// Without another communicator.
static void of_processes(void) {
#if HAS_MPI_4
  MPI_Session session;
  MPI_Group all, halves[2];
  MPI_Comm made;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  CALL(MPI_Comm_create_from_group, "", 0, all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  use(&made, "from_group all");
  int one[1][3] = {{0, 0, 1}}, others[1][3] = {{1, size - 1, 1}};
  MPI_Group_range_incl(all, 1, one, &halves[0]);
  MPI_Group_range_incl(all, 1, others, &halves[1]);
  CALL(MPI_Intercomm_create_from_groups, "", 0, halves[rank > 0], 0, halves[rank == 0], 0, "two", MPI_INFO_NULL,
       MPI_ERRORS_ARE_FATAL, &made);
  use(&made, "from_groups two");
  for (int k = 0; k < 2; ++k) MPI_Group_free(&halves[k]);
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
#endif
}

int main(int count, char** words) {
  begin(&count, &words);
  copy_and_divide();
  of_groups();
  with_topologies();
  between_groups();
  at_leisure();
  of_processes();
  MPI_Info info;
  MPI_Info_create(&info);
  CALL(MPI_Comm_set_info, "world", 0, MPI_COMM_WORLD, info);
  MPI_Info_free(&info);
  end();
}
