/* Files. fields-0001.bin: for each plane of z, the planes of u, v, w and q, each as doubles [y][x]. droplets-0001.bin:
 * x, y, z and radius of each droplet, as doubles. The bytes do not depend on the way of writing, nor on the number of
 * ranks, up to roundings. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dns.h"

enum { RECORD = 4 };

static void say(const char* format, va_list words) {
  fputs("dns: ", stderr);
  vfprintf(stderr, format, words);
  fputc('\n', stderr);
}

void stop(const char* format, ...) {
  va_list words;
  va_start(words, format);
  say(format, words);
  va_end(words);
  MPI_Abort(MPI_COMM_WORLD, 1);
  _exit(1);
}

void stop_together(const char* format, ...) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  va_list words;
  va_start(words, format);
  if (rank == 0) say(format, words);
  va_end(words);
  MPI_Finalize(); /* after MPI_Abort, the launcher of MPICH may lose the sentence */
  exit(1);
}

/* ---- by MPI-IO: all ranks together write one field after the other ---- */

static void checked(int code, const char* name) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  stop("%s: %s", name, text);
}

static void view_field(MPI_File file, const char* name, const Grid* g, int field) {
  const int plane = g->n * g->n;
  MPI_Datatype planes;
  MPI_Type_vector(g->planes, plane, FIELDS * plane, MPI_DOUBLE, &planes);
  MPI_Type_commit(&planes);
  const MPI_Offset begin = ((MPI_Offset)g->first * FIELDS + field) * plane * (MPI_Offset)sizeof(double);
  checked(MPI_File_set_view(file, begin, MPI_DOUBLE, planes, "native", MPI_INFO_NULL), name);
  MPI_Type_free(&planes);
}

static MPI_File opened(const char* name, int mode) {
  MPI_File file;
  checked(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file), name);
  return file;
}

static void write_by_mpi(const char* name, const Grid* g, double* const* fields) {
  MPI_File file = opened(name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  checked(MPI_File_set_size(file, (MPI_Offset)g->n * g->n * g->n * FIELDS * sizeof(double)), name);
  for (int f = 0; f < FIELDS; ++f) {
    view_field(file, name, g, f);
    checked(MPI_File_write_all(file, fields[f], (int)g->points, MPI_DOUBLE, MPI_STATUS_IGNORE), name);
  }
  checked(MPI_File_close(&file), name);
}

static void read_by_mpi(const char* name, const Grid* g, double* const* fields) {
  MPI_File file = opened(name, MPI_MODE_RDONLY);
  for (int f = 0; f < FIELDS; ++f) {
    view_field(file, name, g, f);
    MPI_Status status;
    int count = 0;
    checked(MPI_File_read_all(file, fields[f], (int)g->points, MPI_DOUBLE, &status), name);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    if (count != (int)g->points) stop("%s: the file is too short", name);
  }
  checked(MPI_File_close(&file), name);
}

/* ---- by small reads and writes: each rank moves along its part of the file ---- */

static int open_at(const char* name, int mode, off_t place) {
  const int file = open(name, mode);
  if (file < 0 || lseek(file, place, SEEK_SET) != place) stop("%s: %s", name, strerror(errno));
  return file;
}

/* Rank 0 makes an empty file. Returns when it is there. */
static void create(const char* name, const Grid* g) {
  if (g->rank == 0) {
    const int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666);
    if (file < 0 || close(file)) stop("%s: %s", name, strerror(errno));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void put(int file, const char* name, const void* from, size_t bytes) {
  for (const char* at = from; bytes > 0;) {
    const ssize_t done = write(file, at, bytes);
    if (done < 0 && errno != EINTR) stop("%s: %s", name, strerror(errno));
    if (done > 0) at += done, bytes -= (size_t)done;
  }
}

static void get(int file, const char* name, void* to, size_t bytes) {
  for (char* at = to; bytes > 0;) {
    const ssize_t done = read(file, at, bytes);
    if (done == 0) stop("%s: the file is too short", name);
    if (done < 0 && errno != EINTR) stop("%s: %s", name, strerror(errno));
    if (done > 0) at += done, bytes -= (size_t)done;
  }
}

static void done_with(int file, const char* name) {
  if (close(file)) stop("%s: %s", name, strerror(errno));
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A line of points at a time. */
static void by_lines(const char* name, const Grid* g, double* const* fields, int writes) {
  const size_t n = g->n, line = n * sizeof(double);
  const int file = open_at(name, writes ? O_WRONLY : O_RDONLY, (off_t)(g->first * FIELDS * n * line));
  for (int p = 0; p < g->planes; ++p)
    for (int f = 0; f < FIELDS; ++f)
      for (size_t y = 0; y < n; ++y) {
        double* at = fields[f] + ((size_t)p * n + y) * n;
        if (writes) {
          put(file, name, at, line);
        } else {
          get(file, name, at, line);
        }
      }
  done_with(file, name);
}

void write_fields(const char* name, const Grid* g, double* const* fields, int by_mpi) {
  if (by_mpi) {
    write_by_mpi(name, g, fields);
  } else {
    create(name, g);
    by_lines(name, g, fields, 1);
  }
}

void read_fields(const char* name, const Grid* g, double* const* fields, int by_mpi) {
  if (by_mpi) {
    read_by_mpi(name, g, fields);
  } else {
    by_lines(name, g, fields, 0);
  }
}

/* ---- droplets: always by small reads and writes, one droplet at a time ---- */

static int first_of(const Grid* g, int count, int rank) { return (int)((long)count * rank / g->ranks); }

void write_droplets(const char* name, const Grid* g, const Droplets* d) {
  const int begin = first_of(g, count_of(d), g->rank), end = first_of(g, count_of(d), g->rank + 1);
  double record[RECORD];
  create(name, g);
  const int file = open_at(name, O_WRONLY, (off_t)(begin * sizeof record));
  for (int k = begin; k < end; ++k) {
    droplet(d, k, record);
    put(file, name, record, sizeof record);
  }
  done_with(file, name);
}

int droplets_differ(const char* name, const Grid* g, const Droplets* d) {
  const int begin = first_of(g, count_of(d), g->rank), end = first_of(g, count_of(d), g->rank + 1);
  double record[RECORD], wanted[RECORD];
  int differ = 0;
  const int file = open_at(name, O_RDONLY, (off_t)(begin * sizeof record));
  for (int k = begin; k < end; ++k) {
    droplet(d, k, wanted);
    get(file, name, record, sizeof record);
    differ |= memcmp(record, wanted, sizeof record) != 0;
  }
  done_with(file, name);
  return differ;
}
