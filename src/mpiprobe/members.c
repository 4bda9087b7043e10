// The members of a group as a short text that is the same on all ranks.
#include <stdio.h>
#include <string.h>

#include "mpiprobe/mpi.h"

struct list {
  char* text;
  size_t used;
  uint32_t hash;
  int first, last;  // of the run of ranks that is not yet written
  int is_cut;
};
enum { nobody = -1, stranger = -2, room_of_hash = 12 };

static void write_run(struct list* list) {
  char run[32];
  if (list->first == nobody) return;
  const char* const comma = list->used > 0 ? "," : "";
  if (list->first == stranger) snprintf(run, sizeof run, "%s?", comma);
  else if (list->first == list->last) snprintf(run, sizeof run, "%s%d", comma, list->first);
  else snprintf(run, sizeof run, "%s%d-%d", comma, list->first, list->last);
  const size_t length = strlen(run);
  list->is_cut |= list->used + length + room_of_hash >= probe_members_bytes;
  if (list->is_cut) return;
  memcpy(list->text + list->used, run, length + 1);
  list->used += length;
}

static void add_rank(struct list* list, int rank) {
  list->hash = (list->hash ^ (uint32_t)rank) * 16777619u;
  if (list->first >= 0 && rank == list->last + 1) {
    list->last = rank;
    return;
  }
  write_run(list);
  list->first = list->last = rank;
}

void probe_write_members(char text[probe_members_bytes], MPI_Group group, MPI_Group within) {
  enum { at_once = 64 };
  struct list list = {text, 0, 2166136261u, nobody, nobody, 0};
  int size = 0;
  text[0] = '\0';
  REAL(MPI_Group_size)(group, &size);
  for (int done = 0; done < size; done += at_once) {
    const int n = size - done < at_once ? size - done : at_once;
    int own[at_once], there[at_once];
    for (int k = 0; k < n; ++k) own[k] = done + k;
    if (REAL(MPI_Group_translate_ranks)(group, n, own, within, there) != MPI_SUCCESS) return;
    for (int k = 0; k < n; ++k) add_rank(&list, there[k] < 0 ? stranger : there[k]);
  }
  write_run(&list);
  if (list.is_cut) snprintf(text + list.used, room_of_hash, "..#%08x", list.hash);
}

void probe_write_members_of(char text[probe_members_bytes], MPI_Group group, MPI_Comm comm) {
  MPI_Group whole;
  REAL(MPI_Comm_group)(comm, &whole);
  probe_write_members(text, group, whole);
  REAL(MPI_Group_free)(&whole);
}
