// Reads the tuning file, and uses its choices. Its lines are explained in file.c.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mpiprobe/autotune/file.h"

static const char communicator[] = "communicator\t";
static char* loaded;  // content of the file; null if there is none

static MPI_Datatype chars(void) { return PROBE_OBJECT("ompi_mpi_char", MPI_CHAR); }
static MPI_Datatype ints(void) { return PROBE_OBJECT("ompi_mpi_int", MPI_INT); }

/// An editor may have ended the lines with CR and LF.
static void drop_carriage_returns(char* text, int* bytes) {
  char* out = text;
  for (const char* in = text; *in != '\0'; ++in) {
    if (*in != '\r' || in[1] != '\n') *out++ = *in;
  }
  *out = '\0';
  *bytes = (int)(out - text);
}

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
  if (text != NULL) drop_carriage_returns(text, bytes);
  return text;
}

static const char* mistake_in(const char* text) {
  char line[sizeof tune_version + 8];
  snprintf(line, sizeof line, "\nmpi\t%s\n", tune_version);
  if (strncmp(text, TUNE_FIRST_LINE, sizeof TUNE_FIRST_LINE - 1) != 0) return "is no tuning file of culmen";
  return strstr(text, line) == NULL ? "was made with another version of the MPI" : NULL;
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

static unsigned collective_named(const char* word, size_t length) {
  unsigned what = 0;
  while (what < tune_collectives &&
         (strlen(tune_names[what]) != length || strncmp(tune_names[what], word, length) != 0))
    ++what;
  return what;
}

/// The number of the algorithm with this name, from 1 on; 0 if this MPI has none.
static unsigned number_named(unsigned what, const char* word, size_t length) {
  const struct tune_collective* const c = tune_mpi->of[what];
  for (unsigned k = 0; c != NULL && k < c->count; ++k) {
    if (strlen(c->names[k]) == length && strncmp(c->names[k], word, length) == 0) return k + 1;
  }
  return 0;
}

/// The number of an algorithm: 0 for the MPI's own choice; tune_pass if it cannot be used.
static uint8_t algorithm_named(unsigned what, const char* word, size_t length, int ranks) {
  if (length == 7 && strncmp(word, "default", 7) == 0) return 0;
  const unsigned number = number_named(what, word, length);
  return number > 0 && tune_is_possible(what, number, ranks) ? (uint8_t)number : tune_pass;
}

/// The words of a line with a choice.
struct choice {
  unsigned what, class;
  const char* algorithm;
  size_t length;  // of its name
};

/// Returns why the line is no choice; null if it is one.
static const char* read_choice(const char* line, struct choice* choice) {
  const char* const tab = strchr(line, '\t');
  choice->what = tab != NULL ? collective_named(line, (size_t)(tab - line)) : tune_collectives;
  if (choice->what == tune_collectives) return "its first word is no collective";
  char* end = NULL;
  choice->class = tune_class(strtoull(tab + 1, &end, 10));
  if (!isdigit((unsigned char)tab[1]) || *end != '\t') return "its size is no whole number";
  choice->algorithm = end + 1;
  choice->length = strcspn(choice->algorithm, "\t\n");
  return NULL;
}

/// The first line for a cell counts.
static void take_line(int ranks, const char* line, uint8_t choices[tune_collectives][tune_classes]) {
  struct choice c;
  if (read_choice(line, &c) != NULL || choices[c.what][c.class] != tune_open) return;
  choices[c.what][c.class] = algorithm_named(c.what, c.algorithm, c.length, ranks);
}

static int is_left_alone(unsigned what, unsigned class) {
  const uint64_t least = tune_least_of(class), most = class == 0 ? 0 : 2 * least - 1;
  return !(tune_settings.collectives >> what & 1) || tune_mpi->of[what] == NULL || most < tune_settings.least ||
         least > tune_settings.most;
}

/// The number of ranks in a communicator's line.
static int ranks_in(const char* line) {
  const char* const name = strchr(line, '\t') + 1;
  const char* const ranks = name + strcspn(name, "\t\n");
  return *ranks == '\t' ? atoi(ranks + 1) : 0;
}

struct unusable {
  unsigned count, line;
  const char *first, *why;
};

/// Why the choice of this line cannot be used; null if it can, or if the settings leave it alone.
static const char* why_unusable(const char* line, int ranks) {
  struct choice c;
  const char* const why = read_choice(line, &c);
  if (why != NULL) return why;
  if (is_left_alone(c.what, c.class) || algorithm_named(c.what, c.algorithm, c.length, ranks) != tune_pass) return NULL;
  if (number_named(c.what, c.algorithm, c.length) == 0) return "this MPI has no such algorithm";
  return "the algorithm needs another number of ranks or an option such as --same-types, or is not safe";
}

static void note_unusable(struct unusable* found, const char* line, unsigned number, int ranks) {
  const char* const why = *line != '\n' ? why_unusable(line, ranks) : NULL;
  if (why == NULL) return;
  if (found->count++ == 0) *found = (struct unusable){1, number, line, why};
}

/// Also those of communicators that the program does not make.
static void say_unusable(void) {
  struct unusable found = {0, 0, NULL, NULL};
  int ranks = 0;
  unsigned number = 1;
  for (const char* line = loaded; (line = strchr(line, '\n')) != NULL && *++line != '\0';) {
    ++number;
    if (strncmp(line, communicator, strlen(communicator)) == 0) ranks = ranks_in(line);
    else if (ranks > 0) note_unusable(&found, line, number, ranks);
  }
  if (found.count > 0)
    tune_say("%s: %u of its choices cannot be used here, the first in line %u, '%.*s': %s", tune_settings.load,
             found.count, found.line, (int)strcspn(found.first, "\n"), found.first, found.why);
}

/// On another machine, other algorithms may be fast.
static void say_other_machine(void) {
  const char* const line = strstr(loaded, "\nnodes\t");
  const char* const name = strstr(loaded, "\nprocessor\t");
  const char* const processor = name != NULL ? name + strlen("\nprocessor\t") : tune_processor;
  const int nodes = line != NULL ? atoi(line + strlen("\nnodes\t")) : tune_nodes;
  const int length = (int)strcspn(processor, "\n");
  const int is_other = strlen(tune_processor) != (size_t)length || strncmp(processor, tune_processor, length) != 0;
  if (is_other || nodes != tune_nodes)
    tune_say(
        "%s was made on another machine (nodes: %d, processor: %.*s) than this one (nodes: %d, processor: %s): other "
        "algorithms may be faster here",
        tune_settings.load, nodes, length, processor, tune_nodes, tune_processor);
}

void tune_read_file(void) {
  if (tune_settings.load == NULL || tune_off != NULL) return;
  int bytes = 0;
  const int is_first = tune_is_first();
  if (is_first) loaded = content_of(tune_settings.load, &bytes);
  REAL(MPI_Bcast)(&bytes, 1, ints(), 0, tune_world());
  if (!is_first && bytes > 0) loaded = calloc(1, (size_t)bytes + 1);
  if (bytes > 0 && loaded == NULL) abort();
  if (bytes > 0) REAL(MPI_Bcast)(loaded, bytes, chars(), 0, tune_world());
  const char* const mistake = bytes > 0 ? mistake_in(loaded) : NULL;
  if (is_first && mistake != NULL)
    tune_say("%s %s (here: %s); nothing is tuned", tune_settings.load, mistake, tune_version);
  if (bytes == 0 || mistake != NULL) tune_off = "the tuning file cannot be used";
  else if (is_first && tune_settings.dump != NULL)
    tune_say(
        "CULMEN_TUNING_LOAD and CULMEN_TUNING_DUMP are both set: the choices of %s hold, and what it lacks is "
        "explored, which costs time",
        tune_settings.load);
  if (is_first && bytes > 0 && mistake == NULL) {
    say_other_ranks();
    say_other_machine();
    say_unusable();
  }
}

/// The next line of the same communicator; null if there is none.
static const char* next_in_block(const char* line) {
  const char* const next = strchr(line, '\n');
  if (next == NULL || next[1] == '\0' || strncmp(next + 1, communicator, strlen(communicator)) == 0) return NULL;
  return next + 1;
}

/// Whether the rest of a communicator's line, after the number of ranks, allows these members. null: any ones.
static int allows(const char* rest, const char* members) {
  if (*rest == '\n') return 1;  // an older file does not have them
  if (*rest != '\t') return 0;
  const size_t length = strcspn(rest + 1, "\t\n");
  return members == NULL || (strlen(members) == length && strncmp(rest + 1, members, length) == 0);
}

/// Takes the choices of all communicators in the file with this name, size and members. Returns whether there are any.
static int take_blocks(const struct tune_state* state, const char* members,
                       uint8_t choices[tune_collectives][tune_classes]) {
  char header[tune_name_bytes + 64];
  int found = 0;
  snprintf(header, sizeof header, "\n%s%s\t%d", communicator, state->name, state->size);
  for (const char* at = loaded; (at = strstr(at, header)) != NULL;) {
    at += strlen(header);
    if (!allows(at, members)) continue;
    found = 1;
    for (const char* line = at; (line = next_in_block(line)) != NULL;) take_line(state->size, line, choices);
  }
  return found;
}

void tune_choices_for(const struct tune_state* state, struct tune_agreed* agreed) {
  uint8_t(*const choices)[tune_classes] = agreed->choices;
  if (!tune_is_chosen(state->name)) return;
  for (unsigned what = 0; what < tune_collectives; ++what) {
    for (unsigned class = 0; class < tune_classes; ++class)
      choices[what][class] = is_left_alone(what, class) ? tune_pass : tune_open;
  }
  // In another launch, a communicator of the same name may have other members.
  if (loaded != NULL && !take_blocks(state, agreed->members, choices)) take_blocks(state, NULL, choices);
  const int explores = tune_settings.load == NULL || tune_settings.dump != NULL;
  for (unsigned k = 0; !explores && k < tune_collectives * tune_classes; ++k) {
    if (choices[k / tune_classes][k % tune_classes] == tune_open)
      choices[k / tune_classes][k % tune_classes] = tune_pass;
  }
}
