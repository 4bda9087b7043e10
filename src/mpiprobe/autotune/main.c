// A library that is preloaded into MPI programs. It tries the algorithms of collectives in the calls of the program,
// and then uses the fastest one.
#include <stdlib.h>

#include "mpiprobe/autotune/tune.h"

MPI_Comm tune_world(void) { return PROBE_OBJECT("ompi_mpi_comm_world", MPI_COMM_WORLD); }

int tune_is_first(void) {
  int rank = 0;
  REAL(MPI_Comm_rank)(tune_world(), &rank);
  return rank == 0;
}

#if defined(OPEN_MPI)
/// Runs before MPI_Init. The MPI's own choice still follows the rules of the user.
__attribute__((constructor)) static void allow_choices(void) {
  setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 1);
}
#endif

static const char* marked(const char* of_first, const char* own) {
  return of_first == NULL ? NULL : own != NULL ? own : "";
}

/// Gives all ranks the settings of rank 0. Only rank 0 uses the names of files. Collective.
static void share_settings(MPI_Comm world) {
  const struct tune_settings own = tune_settings;
  REAL(MPI_Bcast)(&tune_settings, (int)sizeof tune_settings, PROBE_OBJECT("ompi_mpi_byte", MPI_BYTE), 0, world);
  tune_settings.dump = marked(tune_settings.dump, own.dump);
  tune_settings.load = marked(tune_settings.load, own.load);
}

int tune_count_nodes(MPI_Comm world) {
  MPI_Comm node;
  int rank = 0, is_first = 0, nodes = 0;
  REAL(MPI_Comm_split_type)(world, MPI_COMM_TYPE_SHARED, 0, PROBE_OBJECT("ompi_mpi_info_null", MPI_INFO_NULL), &node);
  REAL(MPI_Comm_rank)(node, &rank);
  REAL(MPI_Comm_free)(&node);
  is_first = rank == 0;
  REAL(MPI_Allreduce)
  (&is_first, &nodes, 1, PROBE_OBJECT("ompi_mpi_int", MPI_INT), PROBE_OBJECT("ompi_mpi_op_sum", MPI_SUM), world);
  return nodes;
}

/// If one rank does not tune, no rank tunes. If one rank has several threads that call MPI, all ranks behave like it.
/// Collective.
static void agree(MPI_Comm world) {
  const int has_before = tune_off == NULL && tune_has_component_before();
  int mine[3] = {tune_off != NULL, tune_settings.several_threads, has_before}, all[3] = {0, 0, 0};
  REAL(MPI_Allreduce)
  (mine, all, 3, PROBE_OBJECT("ompi_mpi_int", MPI_INT), PROBE_OBJECT("ompi_mpi_op_max", MPI_MAX), world);
  if (all[0] && tune_off == NULL) tune_off = "another rank cannot be tuned";
  tune_settings.several_threads = all[1];
  if (tune_off == NULL && all[1] && all[2] && tune_count_nodes(world) > 1)
    tune_off =
        "several threads may call MPI at a time, and Open MPI's component han makes communicators in their calls. Set "
        "OMPI_MCA_coll=^han, or CULMEN_TUNING_ONE_THREAD=1 if only one thread calls MPI";
}

/// Whether another program has started this one. The tuning file would replace that of the other program.
static int was_spawned(void) {
  const MPI_Comm none = PROBE_OBJECT("ompi_mpi_comm_null", MPI_COMM_NULL);
  MPI_Comm parent = none;
  REAL(MPI_Comm_get_parent)(&parent);
  return parent != none;
}

static void begin(void) {
  const MPI_Comm world = tune_world();
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0, level = MPI_THREAD_SINGLE;
  tune_read_settings();
  share_settings(world);
  if (was_spawned()) tune_settings.dump = NULL;
  REAL(MPI_Get_library_version)(version, &length);
  REAL(MPI_Query_thread)(&level);
  tune_off = NULL;
  tune_settings.several_threads = level == MPI_THREAD_MULTIPLE && !tune_settings.one_thread;
  // Another thread would read the variables that are set for a call. No rank knows what the threads of another rank do.
  if (tune_settings.several_threads && tune_sets)
    tune_off = "several threads may call MPI at a time; if only one does, set CULMEN_TUNING_ONE_THREAD=1";
  else
    tune_begin_variables(version,
                         level == MPI_THREAD_MULTIPLE && tune_settings.one_thread ? MPI_THREAD_SERIALIZED : level);
  agree(world);
  tune_agree_on_variables(world);
  if (tune_off != NULL && tune_is_first()) tune_say("nothing is tuned: %s", tune_off);
  if (tune_off == NULL) tune_begin_communicators();
  tune_begin_file(version);
  tune_read_file();
  if (tune_off == NULL) tune_prepare(tune_find(world));
}

static void end(void) {
  tune_write_file();
  tune_say_unmatched();
  for (struct tune_state *state = tune_states, *next; state != NULL; state = next) {
    next = state->next;
    tune_finish_sums(state);
  }
  tune_off = "MPI has ended";
  tune_last = NULL;
}

static int init(int* argc, char*** argv) {
  const int is_other = probe_is_other_mpi();
  const int error = REAL(MPI_Init)(argc, argv);
  if (error == MPI_SUCCESS && !is_other) begin();
  return error;
}

static int init_thread(int* argc, char*** argv, int required, int* provided) {
  const int is_other = probe_is_other_mpi();
  const int error = REAL(MPI_Init_thread)(argc, argv, required, provided);
  if (error == MPI_SUCCESS && !is_other) begin();
  return error;
}

static int finalize(void) {
  end();
  return REAL(MPI_Finalize)();
}

static int set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  const int error = REAL(MPI_Comm_set_errhandler)(comm, handler);
  if (error == MPI_SUCCESS) tune_follow_errhandler(comm);
  return error;
}

#define COUNTS probe_counts(__builtin_return_address(0))
PROBE_MPI(MPI_Init, int* argc, char*** argv) { return init(argc, argv); }
PROBE_MPI(PMPI_Init, int* argc, char*** argv) { return COUNTS ? init(argc, argv) : REAL(MPI_Init)(argc, argv); }
PROBE_MPI(MPI_Init_thread, int* argc, char*** argv, int required, int* provided) {
  return init_thread(argc, argv, required, provided);
}
PROBE_MPI(PMPI_Init_thread, int* argc, char*** argv, int required, int* provided) {
  return COUNTS ? init_thread(argc, argv, required, provided) : REAL(MPI_Init_thread)(argc, argv, required, provided);
}
PROBE_MPI(MPI_Finalize, void) { return finalize(); }
PROBE_MPI(PMPI_Finalize, void) { return COUNTS ? finalize() : REAL(MPI_Finalize)(); }
PROBE_MPI(MPI_Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler handler) { return set_errhandler(comm, handler); }
PROBE_MPI(PMPI_Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler handler) {
  return COUNTS ? set_errhandler(comm, handler) : REAL(MPI_Comm_set_errhandler)(comm, handler);
}
// The functions of MPI 1, which newer headers do not declare.
#undef MPI_Errhandler_set
#undef PMPI_Errhandler_set
PROBE_MPI(MPI_Errhandler_set, MPI_Comm comm, MPI_Errhandler handler) { return set_errhandler(comm, handler); }
PROBE_MPI(PMPI_Errhandler_set, MPI_Comm comm, MPI_Errhandler handler) { return set_errhandler(comm, handler); }
