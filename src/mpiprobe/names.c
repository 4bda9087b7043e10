// How communicators, windows and files were made, as names that survive from run to run.
#include "mpiprobe/names.h"

#include <stdio.h>
#include <string.h>

static const char* const ways[] = {"dup",      "idup",    "split",      "split_type", "create", "cart",
                                   "cart_sub", "graph",   "dist_graph", "inter",      "merge",  "spawn",
                                   "accept",   "connect", "join",       "window"};
enum { way_count = sizeof ways / sizeof *ways };
// The number of children that were made in each way. Only some ranks take part in some ways, so a common number would
// differ between ranks.
static unsigned children[probe_most_communicators][way_count];
static unsigned strangers;  // made by unknown functions
static MPI_Group world_group;
static int has_world_group;

/// A name that is too long loses its beginning, but remains different from others.
static void set_origin(char* origin, const char* name) {
  const size_t length = strlen(name), room = probe_origin_bytes - 1, mark = 11;
  if (length <= room) {
    memcpy(origin, name, length + 1);
    return;
  }
  uint32_t hash = 2166136261u;
  for (size_t k = 0; k < length; ++k) hash = (hash ^ (unsigned char)name[k]) * 16777619u;
  snprintf(origin, probe_origin_bytes, "..%08x/%s", hash, name + length - (room - mark));
}

int probe_named(const char* origin) {
  for (unsigned k = 0; k < probe_profile->header.communicators; ++k) {
    if (strcmp(probe_profile->communicators[k].origin, origin) == 0) return (int)k;
  }
  return -1;
}

void probe_name_child(char* origin, unsigned parent, const char* how, const char* suffix) {
  char text[2 * probe_origin_bytes];
  unsigned way = 0;
  while (way + 1 < way_count && strcmp(ways[way], how) != 0) ++way;
  const char* const of = probe_profile->communicators[parent].origin;  // empty: it comes from no communicator
  snprintf(text, sizeof text, "%s%s%s %u%s", of, of[0] != '\0' ? "/" : "", how, ++children[parent][way], suffix);
  set_origin(origin, text);
}

void probe_name_stranger(char* origin) {
  snprintf(origin, probe_origin_bytes, "made by an unknown function, %u", ++strangers);
}

/// How many communicators have a name of this beginning, a number, and this end. All members of a communicator have
/// made the same ones before.
static unsigned number_of_names(const char* head, const char* tail) {
  const size_t length = strlen(head);
  unsigned same = 0;
  for (unsigned k = 0; k < probe_profile->header.communicators; ++k) {
    const char* const other = probe_profile->communicators[k].origin;
    const size_t digits = strncmp(other, head, length) == 0 ? strspn(other + length, "0123456789") : 0;
    same += digits > 0 && strcmp(other + length + digits, tail) == 0;
  }
  return same;
}

/// Numbers begin at first.
static void name_numbered(char* origin, const char* head, unsigned first, const char* tail) {
  char name[4 * probe_origin_bytes];
  unsigned number = first + number_of_names(head, tail);
  do {  // more than once only if names had to be cut
    snprintf(name, sizeof name, "%s%u%s", head, number++, tail);
    set_origin(origin, name);
  } while (probe_named(origin) >= 0);
}

void probe_name_group(char* origin, unsigned parent, MPI_Comm comm, MPI_Group group, int tag) {
  char members[probe_members_bytes], head[probe_origin_bytes + 32], tail[probe_members_bytes + 32], of_tag[24] = "";
  probe_write_members_of(members, group, comm);
  if (tag != 0) snprintf(of_tag, sizeof of_tag, " tag %d", tag);
  snprintf(head, sizeof head, "%s/create_group ", probe_profile->communicators[parent].origin);
  snprintf(tail, sizeof tail, "%s ranks %s", of_tag, members);
  name_numbered(origin, head, 1, tail);
}

/// The same on both sides: "0,2|1,3".
static void write_sides(char* text, size_t room, MPI_Group one, MPI_Group other) {
  char first[probe_members_bytes], second[probe_members_bytes];
  probe_write_members(first, one, world_group);
  probe_write_members(second, other, world_group);
  const int in_order = strcmp(first, second) <= 0;
  snprintf(text, room, " ranks %s|%s", in_order ? first : second, in_order ? second : first);
}

/// Nothing if the group has all ranks of the world, or cannot be compared with them.
static void write_group(char* text, size_t room, MPI_Group group, const MPI_Group* remote) {
  char members[probe_members_bytes];
  int same = MPI_IDENT;
  text[0] = '\0';
  if (!has_world_group) return;
  if (remote != NULL) {
    write_sides(text, room, group, *remote);
    return;
  }
  REAL(MPI_Group_compare)(group, world_group, &same);
  if (same == MPI_IDENT) return;
  probe_write_members(members, group, world_group);
  snprintf(text, room, " ranks %s", members);
}

void probe_name_of_group(char* origin, const char* how, const char* tag, MPI_Group group, const MPI_Group* remote) {
  char members[2 * probe_members_bytes + 16], name[3 * probe_origin_bytes], head[2 * probe_origin_bytes];
  write_group(members, sizeof members, group, remote);
  snprintf(head, sizeof head, "%s %s ", how, tag);
  snprintf(name, sizeof name, "%s %s%s", how, tag, members);
  set_origin(origin, name);
  if (probe_named(origin) >= 0) name_numbered(origin, head, 2, members);
}

void probe_name_between(char* origin, unsigned parent, MPI_Comm made) {
  char sides[2 * probe_members_bytes + 16];
  MPI_Group own, remote;
  if (!has_world_group) {
    probe_name_child(origin, parent, "inter", "");
    return;
  }
  REAL(MPI_Comm_group)(made, &own);
  REAL(MPI_Comm_remote_group)(made, &remote);
  write_sides(sides, sizeof sides, own, remote);
  REAL(MPI_Group_free)(&own);
  REAL(MPI_Group_free)(&remote);
  name_numbered(origin, "inter ", 1, sides);
}

int probe_first_of(MPI_Comm communicator) {
  MPI_Group group;
  int own = 0, first = -1;
  if (!has_world_group || REAL(MPI_Comm_group)(communicator, &group) != MPI_SUCCESS) return -1;
  if (REAL(MPI_Group_translate_ranks)(group, 1, &own, world_group, &first) != MPI_SUCCESS) first = -1;
  REAL(MPI_Group_free)(&group);
  return first < 0 ? -1 : first;
}

void probe_name_file(char* origin, unsigned parent, const char* name) {
  const int length = snprintf(origin, probe_origin_bytes, "%s/file ", probe_profile->communicators[parent].origin);
  const int room = length < probe_origin_bytes ? probe_origin_bytes - length - 1 : 0;
  const int all = (int)strlen(name);
  if (room > 0) snprintf(origin + length, (size_t)room + 1, "%s", all > room ? name + all - room : name);
}

void probe_set_world_group(const MPI_Group* group, int use) {
  probe_lock();
  if (has_world_group) REAL(MPI_Group_free)(&world_group);
  has_world_group = group != NULL;
  if (group != NULL) world_group = *group;
  if (has_world_group && !use) {
    REAL(MPI_Group_free)(&world_group);
    has_world_group = 0;
  }
  probe_unlock();
}
