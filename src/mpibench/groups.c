#include "groups.h"

#include <stdlib.h>
#include <string.h>

#include "ranks.h"

MPI_Comm group;
int group_rank, group_size;

void join_whole_group(void) {
  group = MPI_COMM_WORLD;
  group_rank = rank;
  group_size = size;
}

// Reads "first", "first-last" or "first-last:step". Returns the end of these words, or NULL for a mistake.
static const char* read_run(const char* text, long run[3]) {
  char* end;
  run[0] = run[1] = strtol(text, &end, 10), run[2] = 1;
  if (end == text) return NULL;
  if (*end == '-') run[1] = strtol(end + 1, &end, 10);
  if (*end == ':') run[2] = strtol(end + 1, &end, 10);
  const int is_right = run[0] >= 0 && run[0] < size && run[1] >= 0 && run[1] < size && run[2] != 0;
  return is_right && (run[1] - run[0]) % run[2] == 0 && (run[1] - run[0]) / run[2] >= 0 ? end : NULL;
}

// Finds the group of each rank (-1: none) and its place there. Returns the number of groups; 0 for a mistake.
static int read_groups(const char* text, int* of, int* place, int* members) {
  int groups = 1, here = 0;
  for (int k = 0; k < size; ++k) of[k] = -1;
  for (*members = 0; *text != '\0';) {
    long run[3];
    if (!(text = read_run(text, run))) return 0;
    for (long k = run[0]; k != run[1] + run[2]; k += run[2], ++here) {
      if (of[k] >= 0) return 0;
      of[k] = groups - 1;
      place[k] = here;
    }
    if (*text != ',' && groups > 1 && here != *members) return 0;
    if (*text == ';') *members = here, here = 0, ++groups;
    else if (*text == '\0') *members = here;
    else if (*text != ',') return 0;
    if (*text != '\0' && *++text == '\0') return 0;
  }
  return *members > 0 ? groups : 0;
}

const char* split(const char* text) {
  int members = 0, *const of = malloc(2 * sizeof(int) * (size_t)size);
  if (!of) MPI_Abort(control, 1);
  const int groups = read_groups(text, of, of + size, &members);
  const int colour = of[rank] < 0 ? MPI_UNDEFINED : of[rank], place = of[rank + size];
  free(of);
  if (groups == 0) return "the ranks of the communicators are wrong";
  MPI_Comm made;
  if (!on_all(MPI_Comm_split(MPI_COMM_WORLD, colour, place, &made) == MPI_SUCCESS)) return "the ranks cannot be split";
  if (group != MPI_COMM_WORLD && group != MPI_COMM_NULL) MPI_Comm_free(&group);
  group = made;
  group_rank = place;
  group_size = members;
  return NULL;
}
