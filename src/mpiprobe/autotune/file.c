// The tuning file: lines of words with tabs between them.
//
//   culmen-tuning  1
//   mpi            VERSION
//   ranks          NUMBER
//   nodes          NUMBER
//   processor      NAME
//   off            REASON
//   left_out       NUMBER
//   no_choice      COLLECTIVES
//   communicator   NAME  RANKS  MEMBERS
//   COLLECTIVE     BYTES  ALGORITHM  DEFAULT_US  CHOSEN_US  CALLS
//
// A line of the last kind belongs to the communicator above it. MEMBERS are its ranks in the world, for example 0-3,
// or a shorter text that stands for many ranks. Communicators with the same name and size can have different members.
// Older files do not have them. BYTES is the smallest size of a class. A time of 0 us
// was not measured. The line off says why nothing was tuned; it is missing if the tuner was active. The line left_out
// has the number of communicators that were left out because the memory was used up; it is missing if there were none.
// The line no_choice has the collectives, with commas, that the program called but for which culmen can choose no
// algorithm in this MPI. It is missing if there were none.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/file.h"

char tune_version[160];
char tune_processor[256] = "unknown";
int tune_nodes;
static char* kept;  // lines of communicators that have ended
static size_t kept_bytes;
enum { most_kept = 1 << 20 };

static MPI_Datatype chars(void) { return PROBE_OBJECT("ompi_mpi_char", MPI_CHAR); }
static MPI_Datatype ints(void) { return PROBE_OBJECT("ompi_mpi_int", MPI_INT); }

static void read_processor(void) {
  char line[512];
  FILE* const cpus = fopen("/proc/cpuinfo", "r");
  while (cpus != NULL && fgets(line, sizeof line, cpus) != NULL) {
    if (sscanf(line, "model name : %255[^\n]", tune_processor) == 1) break;
  }
  if (cpus != NULL) fclose(cpus);
}

void tune_begin_file(const char* library_version) {
  snprintf(tune_version, sizeof tune_version, "%s", library_version);
  tune_version[strcspn(tune_version, ",\n\r")] = '\0';
  for (char* c = tune_version; *c; ++c) {
    if (*c == '\t') *c = ' ';
  }
  if (tune_settings.dump == NULL && tune_settings.load == NULL) return;
  tune_nodes = tune_count_nodes(tune_world());
  if (tune_is_first()) read_processor();
}

static void write_cell(FILE* out, unsigned what, unsigned class, const struct tune_cell* cell) {
  const unsigned long long calls = cell->counted + (cell->again - cell->left);
  const char* const name = cell->algorithm == 0 ? "default" : tune_mpi->of[what]->names[cell->algorithm - 1];
  fprintf(out, "%s\t%llu\t%s\t%.3f\t%.3f\t%llu\n", tune_names[what], (unsigned long long)tune_least_of(class), name,
          1e-3 * cell->default_ns, 1e-3 * cell->chosen_ns, calls);
}

static int has_choices(const struct tune_state* state) {
  for (unsigned k = 0; k < tune_collectives * tune_classes; ++k) {
    const struct tune_cell* const cells = state->cells[k / tune_classes];
    if (cells != NULL && tune_has_choice(&cells[k % tune_classes])) return 1;
  }
  return 0;
}

static void write_state(FILE* out, const struct tune_state* state) {
  fprintf(out, "communicator\t%s\t%d\t%s\n", state->name, state->size, state->agreed->members);
  for (unsigned what = 0; what < tune_collectives; ++what) {
    for (unsigned class = 0; state->cells[what] != NULL && class < tune_classes; ++class) {
      const struct tune_cell* const cell = &state->cells[what][class];
      if (tune_has_choice(cell)) write_cell(out, what, class, cell);
    }
  }
}

static void append(const char* text, size_t bytes) {
  char* const longer = realloc(kept, kept_bytes + bytes + 1);
  if (longer == NULL) return;
  kept = longer;
  memcpy(kept + kept_bytes, text, bytes);
  kept_bytes += bytes;
  kept[kept_bytes] = '\0';
}

void tune_keep(const struct tune_state* state, int has_ended) {
  if (tune_settings.dump == NULL || !has_choices(state)) return;
  if (has_ended && kept_bytes > most_kept) return;  // a program may make communicators without end
  char* text = NULL;
  size_t bytes = 0;
  FILE* const out = open_memstream(&text, &bytes);
  if (out == NULL) return;
  write_state(out, state);
  fclose(out);
  append(text, bytes);
  free(text);
}

static void write_without_choice(FILE* out, const uint64_t without_choice[2]) {
  const char* before = "no_choice\t";
  for (unsigned k = 0; k < tune_collectives + tune_blocking; ++k) {
    const int is_persistent = k >= tune_collectives;
    const unsigned bit = is_persistent ? k - tune_collectives : k;
    if (!(without_choice[is_persistent] >> bit & 1)) continue;
    fprintf(out, "%s%s%s", before, tune_names[bit], is_persistent ? "_init" : "");
    before = ",";
  }
  if (*before == ',') fputc('\n', out);
}

static void write_header(FILE* out, int ranks, unsigned left_out, const uint64_t without_choice[2]) {
  fprintf(out, TUNE_FIRST_LINE "\nmpi\t%s\nranks\t%d\nnodes\t%d\nprocessor\t%s\n", tune_version, ranks, tune_nodes,
          tune_processor);
  if (tune_off != NULL) fprintf(out, "off\t%s\n", tune_off);
  if (left_out > 0) fprintf(out, "left_out\t%u\n", left_out);
  write_without_choice(out, without_choice);
}

static void write_all(const char* text, size_t bytes, int ranks, unsigned left_out, const uint64_t without_choice[2]) {
  char fresh[4096];
  snprintf(fresh, sizeof fresh, "%s.new", tune_settings.dump);
  FILE* const out = fopen(fresh, "w");
  int failed = out == NULL;
  if (out != NULL) {
    write_header(out, ranks, left_out, without_choice);
    fwrite(text, 1, bytes, out);
    failed = fclose(out) != 0 || rename(fresh, tune_settings.dump) != 0;
  }
  if (failed) tune_say("the tuning file %s cannot be written: %s", tune_settings.dump, strerror(errno));
}

void tune_write_file(void) {
  if (tune_settings.dump == NULL) return;
  for (const struct tune_state* state = tune_states; state != NULL; state = state->next) {
    if (state->rank == 0 && !state->leaves_alone) tune_keep(state, 0);
  }
  int size = 0, bytes = (int)kept_bytes, left_out = 0;
  const int is_first = tune_is_first();
  REAL(MPI_Comm_size)(tune_world(), &size);
  int* const counts = is_first ? calloc(2 * (size_t)size, sizeof *counts) : NULL;
  if (is_first && counts == NULL) abort();
  REAL(MPI_Gather)(&bytes, 1, ints(), counts, 1, ints(), 0, tune_world());
  size_t total = 0;
  for (int k = 0; is_first && k < size; ++k) {
    counts[size + k] = (int)total;
    total += (size_t)counts[k];
  }
  char* const all = is_first ? malloc(total + 1) : NULL;
  if (is_first && all == NULL) abort();
  REAL(MPI_Gatherv)(kept, bytes, chars(), all, counts, is_first ? counts + size : NULL, chars(), 0, tune_world());
  const int mine = (int)tune_left_out;
  REAL(MPI_Reduce)(&mine, &left_out, 1, ints(), PROBE_OBJECT("ompi_mpi_op_sum", MPI_SUM), 0, tune_world());
  uint64_t without_choice[2] = {0, 0};
  REAL(MPI_Reduce)
  (tune_without_choice, without_choice, 2, PROBE_OBJECT("ompi_mpi_int64_t", MPI_INT64_T),
   PROBE_OBJECT("ompi_mpi_op_bor", MPI_BOR), 0, tune_world());
  if (is_first) write_all(all, total, size, (unsigned)left_out, without_choice);
  free(all);
  free(counts);
}
