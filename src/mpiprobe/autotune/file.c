// The tuning file: lines of words with tabs between them.
//
//   culmen-tuning  1
//   mpi            VERSION
//   ranks          NUMBER
//   processor      NAME
//   off            REASON
//   left_out       NUMBER
//   communicator   NAME  RANKS
//   COLLECTIVE     BYTES  ALGORITHM  DEFAULT_US  CHOSEN_US  CALLS
//
// A line of the last kind belongs to the communicator above it. BYTES is the smallest size of a class. A time of 0 us
// was not measured. The line off says why nothing was tuned; it is missing if the tuner was active. The line left_out
// has the number of communicators that were left out because the memory was used up; it is missing if there were none.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/tune.h"

static const char first_line[] = "culmen-tuning\t1";
static char* loaded;  // content of the file; null if there is none
static char version[160];
static char* kept;  // lines of communicators that have ended
static size_t kept_bytes;
enum { most_kept = 1 << 20 };

static MPI_Datatype chars(void) { return PROBE_OBJECT("ompi_mpi_char", MPI_CHAR); }
static MPI_Datatype ints(void) { return PROBE_OBJECT("ompi_mpi_int", MPI_INT); }

static char* content_of(const char* path, int* bytes) {
  errno = 0;
  FILE* const file = fopen(path, "r");
  char* text = NULL;
  size_t used = 0;
  for (size_t more = 1; file != NULL && more > 0 && used < INT32_MAX / 2; used += more) {
    char* const longer = realloc(text, used + (1 << 16) + 1);
    if (longer == NULL) break;
    text = longer;
    more = fread(text + used, 1, 1 << 16, file);
    text[used + more] = '\0';
  }
  if (file == NULL || used == 0)
    tune_say("the tuning file %s cannot be read: %s; nothing is tuned", path,
             file == NULL || errno != 0 ? strerror(errno) : "it is empty");
  if (file != NULL) fclose(file);
  *bytes = (int)used;
  return text;
}

static const char* mistake_in(const char* text) {
  char line[sizeof version + 8];
  snprintf(line, sizeof line, "\nmpi\t%s\n", version);
  if (strncmp(text, first_line, sizeof first_line - 1) != 0) return "is no tuning file of culmen";
  return strstr(text, line) == NULL ? "was made with another version of the MPI" : NULL;
}

static void shorten(const char* library_version) {
  snprintf(version, sizeof version, "%s", library_version);
  version[strcspn(version, ",\n\r")] = '\0';
  for (char* c = version; *c; ++c) {
    if (*c == '\t') *c = ' ';
  }
}

/// Choices belong to communicators of one size, so most of another launch's do not hold.
static void say_other_ranks(void) {
  const char* const line = strstr(loaded, "\nranks\t");
  const int before = line != NULL ? atoi(line + strlen("\nranks\t")) : 0;
  int now = 0;
  REAL(MPI_Comm_size)(tune_world(), &now);
  if (before > 0 && before != now)
    tune_say(
        "%s was made with %d ranks, but here are %d: its choices hold only for communicators with the same name and "
        "number of ranks",
        tune_settings.load, before, now);
}

void tune_read_file(const char* library_version) {
  shorten(library_version);
  if (tune_settings.load == NULL || tune_off != NULL) return;
  int bytes = 0;
  const int is_first = tune_is_first();
  if (is_first) loaded = content_of(tune_settings.load, &bytes);
  REAL(MPI_Bcast)(&bytes, 1, ints(), 0, tune_world());
  if (!is_first && bytes > 0) loaded = calloc(1, (size_t)bytes + 1);
  if (bytes > 0 && loaded == NULL) abort();
  if (bytes > 0) REAL(MPI_Bcast)(loaded, bytes, chars(), 0, tune_world());
  const char* const mistake = bytes > 0 ? mistake_in(loaded) : NULL;
  if (is_first && mistake != NULL) tune_say("%s %s (here: %s); nothing is tuned", tune_settings.load, mistake, version);
  if (bytes == 0 || mistake != NULL) tune_off = "the tuning file cannot be used";
  else if (is_first && tune_settings.dump != NULL)
    tune_say(
        "CULMEN_TUNING_LOAD and CULMEN_TUNING_DUMP are both set: the choices of %s hold, and what it lacks is "
        "explored, which costs time",
        tune_settings.load);
  if (is_first && bytes > 0 && mistake == NULL) say_other_ranks();
}

static unsigned collective_named(const char* word, size_t length) {
  unsigned what = 0;
  while (what < tune_collectives &&
         (strlen(tune_names[what]) != length || strncmp(tune_names[what], word, length) != 0))
    ++what;
  return what;
}

/// The number of an algorithm: 0 for the MPI's own choice; tune_pass if there is no such algorithm.
static uint8_t algorithm_named(unsigned what, const char* word, size_t length, int ranks) {
  const struct tune_collective* const c = tune_mpi->of[what];
  if (length == 7 && strncmp(word, "default", 7) == 0) return 0;
  for (unsigned k = 0; c != NULL && k < c->count; ++k) {
    if (strlen(c->names[k]) == length && strncmp(c->names[k], word, length) == 0 &&
        tune_is_possible(what, k + 1, ranks))
      return (uint8_t)(k + 1);
  }
  return tune_pass;
}

static void take_line(const struct tune_state* state, const char* line,
                      uint8_t choices[tune_collectives][tune_classes]) {
  const char* const tab = strchr(line, '\t');
  const unsigned what = tab != NULL ? collective_named(line, (size_t)(tab - line)) : tune_collectives;
  char* end = NULL;
  if (what == tune_collectives) return;
  const uint64_t bytes = strtoull(tab + 1, &end, 10);
  uint8_t* const choice = &choices[what][tune_class(bytes)];
  if (*end != '\t' || *choice == tune_pass) return;  // the settings leave it alone
  const char* const word = end + 1;
  *choice = algorithm_named(what, word, strcspn(word, "\t\n"), state->size);
}

static uint64_t least_of(unsigned class) { return class == 0 ? 0 : UINT64_C(1) << (class - 1); }

static int is_left_alone(unsigned what, unsigned class) {
  const uint64_t least = least_of(class), most = class == 0 ? 0 : 2 * least - 1;
  return !(tune_settings.collectives >> what & 1) || tune_mpi->of[what] == NULL || most < tune_settings.least ||
         least > tune_settings.most;
}

void tune_choices_for(const struct tune_state* state, uint8_t choices[tune_collectives][tune_classes]) {
  if (!tune_is_chosen(state->name)) return;
  for (unsigned what = 0; what < tune_collectives; ++what) {
    for (unsigned class = 0; class < tune_classes; ++class)
      choices[what][class] = is_left_alone(what, class) ? tune_pass : tune_open;
  }
  char header[tune_name_bytes + 64];
  snprintf(header, sizeof header, "\ncommunicator\t%s\t%d\n", state->name, state->size);
  const char* line = loaded != NULL ? strstr(loaded, header) : NULL;
  for (line = line != NULL ? line + strlen(header) : NULL; line != NULL && strncmp(line, "communicator\t", 13) != 0;) {
    take_line(state, line, choices);
    line = strchr(line, '\n');
    line = line != NULL && line[1] != '\0' ? line + 1 : NULL;
  }
  const int explores = tune_settings.load == NULL || tune_settings.dump != NULL;
  for (unsigned k = 0; !explores && k < tune_collectives * tune_classes; ++k) {
    if (choices[k / tune_classes][k % tune_classes] == tune_open)
      choices[k / tune_classes][k % tune_classes] = tune_pass;
  }
}

static void write_cell(FILE* out, unsigned what, unsigned class, const struct tune_cell* cell) {
  const unsigned long long calls = cell->counted + (cell->again - cell->left);
  const char* const name = cell->algorithm == 0 ? "default" : tune_mpi->of[what]->names[cell->algorithm - 1];
  fprintf(out, "%s\t%llu\t%s\t%.3f\t%.3f\t%llu\n", tune_names[what], (unsigned long long)least_of(class), name,
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
  fprintf(out, "communicator\t%s\t%d\n", state->name, state->size);
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

static void write_header(FILE* out, int ranks, unsigned left_out) {
  char processor[256] = "unknown", line[512];
  FILE* const cpus = fopen("/proc/cpuinfo", "r");
  while (cpus != NULL && fgets(line, sizeof line, cpus) != NULL) {
    if (sscanf(line, "model name : %255[^\n]", processor) == 1) break;
  }
  if (cpus != NULL) fclose(cpus);
  fprintf(out, "%s\nmpi\t%s\nranks\t%d\nprocessor\t%s\n", first_line, version, ranks, processor);
  if (tune_off != NULL) fprintf(out, "off\t%s\n", tune_off);
  if (left_out > 0) fprintf(out, "left_out\t%u\n", left_out);
}

static void write_all(const char* text, size_t bytes, int ranks, unsigned left_out) {
  char fresh[4096];
  snprintf(fresh, sizeof fresh, "%s.new", tune_settings.dump);
  FILE* const out = fopen(fresh, "w");
  int failed = out == NULL;
  if (out != NULL) {
    write_header(out, ranks, left_out);
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
  if (is_first) write_all(all, total, size, (unsigned)left_out);
  free(all);
  free(counts);
}
