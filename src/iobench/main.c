// Measures how fast the ranks of an MPI program write and read files. All bytes are checked.
//
//   iobench PATTERN API BYTES TRANSFER FOLDER
//
// PATTERN: file-per-process: each rank has a file of its own. contiguous: each rank has a part of one file. strided:
// the
//   ranks take turns in one file. collective: the same, by collective calls.
// API: posix or mpiio. BYTES: of each rank; a multiple of TRANSFER, the bytes of one call (of one piece in
// `collective`).
//
// Rank 0 prints MB/s over all ranks. The time is that of the slowest rank, without the time for making and checking its
// bytes. The writing time ends when the file system has the data (fsync). Before it reads, each rank asks the kernel to
// drop its own pages. The files are removed. With IOBENCH_HINTS=1, rank 0 also prints the hints that MPI-IO uses. The
// exit code is 1 if bytes differ.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_pieces = 64, call_bytes = 4 << 20, path_bytes = 4096 };

typedef struct {
  const char* pattern;
  int posix, shared, strided, collective;
  int64_t bytes, transfer;
} plan;

typedef struct {
  int fd;
  MPI_File file;
} target;

static int rank, size;
static char path[path_bytes];
static double aside_s;  // for bytes in memory, since a measurement began

static void fail(const char* what, const char* why) {
  fprintf(stderr, "iobench: rank %d: %s %s: %s\n", rank, what, path, why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int code, const char* what) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (code == MPI_SUCCESS) return;
  MPI_Error_string(code, text, &length);
  fail(what, text);
}

// The byte offset of a piece in its file.
static int64_t offset_of(const plan* p, int64_t piece) {
  if (!p->shared) return piece * p->transfer;
  return p->strided ? (piece * size + rank) * p->transfer : rank * p->bytes + piece * p->transfer;
}

// The content of the file at this offset; it differs between offsets and between files.
static uint64_t word_at(const plan* p, int64_t offset) {
  const uint64_t file = p->shared ? 0 : (uint64_t)rank + 1;
  return ((uint64_t)offset / 8 + file * 0x10001) * 0x9e3779b97f4a7c15u;
}

static void fill_piece(const plan* p, char* buffer, int64_t piece) {
  for (int64_t at = 0; at < p->transfer; at += 8) {
    const uint64_t word = word_at(p, offset_of(p, piece) + at);
    memcpy(buffer + at, &word, 8);
  }
}

static int64_t wrong_in(const plan* p, const char* buffer, int64_t piece) {
  int64_t wrong = 0;
  for (int64_t at = 0; at < p->transfer; at += 8) {
    const uint64_t word = word_at(p, offset_of(p, piece) + at);
    wrong += memcmp(buffer + at, &word, 8) != 0;
  }
  return wrong;
}

static void fill(const plan* p, char* buffer, int64_t first, int64_t count) {
  const double begun = MPI_Wtime();
  for (int64_t k = 0; k < count; ++k) fill_piece(p, buffer + k * p->transfer, first + k);
  aside_s += MPI_Wtime() - begun;
}

static int64_t wrong_in_all(const plan* p, const char* buffer, int64_t first, int64_t count) {
  const double begun = MPI_Wtime();
  int64_t wrong = 0;
  for (int64_t k = 0; k < count; ++k) wrong += wrong_in(p, buffer + k * p->transfer, first + k);
  aside_s += MPI_Wtime() - begun;
  return wrong;
}

// Bytes of the call before are not those of this one.
static void spoil(char* buffer, int64_t bytes) {
  const double begun = MPI_Wtime();
  memset(buffer, 0xff, (size_t)bytes);
  aside_s += MPI_Wtime() - begun;
}

static target opened(const plan* p, int writing) {
  target t = {-1, MPI_FILE_NULL};
  if (p->posix) {
    t.fd = open(path, writing ? O_WRONLY | O_CREAT : O_RDONLY, 0600);
    if (t.fd < 0) fail("cannot open", strerror(errno));
    return t;
  }
  const int mode = writing ? MPI_MODE_WRONLY | MPI_MODE_CREATE : MPI_MODE_RDONLY;
  check(MPI_File_open(p->shared ? MPI_COMM_WORLD : MPI_COMM_SELF, path, mode, MPI_INFO_NULL, &t.file), "cannot open");
  if (p->strided) {
    MPI_Datatype piece, strided;
    MPI_Type_contiguous((int)p->transfer, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, p->transfer * size, &strided);
    MPI_Type_commit(&strided);
    check(MPI_File_set_view(t.file, rank * p->transfer, MPI_BYTE, strided, "native", MPI_INFO_NULL), "cannot view");
    MPI_Type_free(&piece);
    MPI_Type_free(&strided);
  }
  return t;
}

static void move_posix(target t, int writing, char* buffer, int64_t bytes, int64_t offset) {
  const ssize_t done = writing ? pwrite(t.fd, buffer, bytes, offset) : pread(t.fd, buffer, bytes, offset);
  if (done != bytes) fail(writing ? "cannot write" : "cannot read", done < 0 ? strerror(errno) : "too few bytes");
}

static void move_mpi(const plan* p, target t, int writing, char* buffer, int64_t bytes, int64_t offset) {
  MPI_Status status;
  const MPI_File file = t.file;
  int code = MPI_SUCCESS;
  if (p->collective) {
    code = writing ? MPI_File_write_at_all(file, offset, buffer, (int)bytes, MPI_BYTE, &status)
                   : MPI_File_read_at_all(file, offset, buffer, (int)bytes, MPI_BYTE, &status);
  } else {
    code = writing ? MPI_File_write_at(file, offset, buffer, (int)bytes, MPI_BYTE, &status)
                   : MPI_File_read_at(file, offset, buffer, (int)bytes, MPI_BYTE, &status);
  }
  check(code, writing ? "cannot write" : "cannot read");
  int moved = 0;
  MPI_Get_count(&status, MPI_BYTE, &moved);
  if (moved != bytes) fail(writing ? "cannot write" : "cannot read", "too few bytes");
}

// Whether a call moves several pieces, with gaps between them.
static int in_view(const plan* p) { return p->strided && !p->posix; }

static int64_t pieces_per_call(const plan* p) {
  const int64_t most = call_bytes / p->transfer;
  if (!in_view(p) || most < 1) return 1;
  return most < most_pieces ? most : most_pieces;
}

// All pieces of this rank, in order. Returns the number of wrong words.
static int64_t move_all(const plan* p, target t, int writing, char* buffer) {
  const int64_t pieces = p->bytes / p->transfer;
  const int64_t most = pieces_per_call(p);
  int64_t wrong = 0;
  for (int64_t first = 0; first < pieces; first += most) {
    const int64_t count = pieces - first < most ? pieces - first : most;
    const int64_t offset = in_view(p) ? first * p->transfer : offset_of(p, first);
    if (writing) fill(p, buffer, first, count);
    else spoil(buffer, count * p->transfer);
    if (p->posix) {
      move_posix(t, writing, buffer, count * p->transfer, offset);
    } else {
      move_mpi(p, t, writing, buffer, count * p->transfer, offset);
    }
    if (!writing) wrong += wrong_in_all(p, buffer, first, count);
  }
  return wrong;
}

static void close_file(const plan* p, target* t, int writing) {
  if (p->posix) {
    if (writing && fsync(t->fd) != 0) fail("cannot write", strerror(errno));
    if (close(t->fd) != 0) fail("cannot close", strerror(errno));
    return;
  }
  if (writing) check(MPI_File_sync(t->file), "cannot write");
  check(MPI_File_close(&t->file), "cannot close");
}

static void drop_pages(void) {
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return;
  posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  close(fd);
}

// On all ranks, the time of the slowest one.
static double measure(const plan* p, int writing, char* buffer, int64_t* wrong) {
  aside_s = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  target t = opened(p, writing);
  *wrong += move_all(p, t, writing, buffer);
  close_file(p, &t, writing);
  double own_s = MPI_Wtime() - begun - aside_s, slowest_s = 0;
  MPI_Allreduce(&own_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest_s;
}

static void print_hints(const plan* p) {
  target t = opened(p, 0);
  MPI_Info info;
  int count = 0;
  check(MPI_File_get_info(t.file, &info), "has no hints:");
  MPI_Info_get_nkeys(info, &count);
  for (int k = 0; k < count && rank == 0; ++k) {
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    MPI_Info_get_nthkey(info, k, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    printf("hint %s = %s\n", key, value);
  }
  MPI_Info_free(&info);
  close_file(p, &t, 0);
}

static int is(const char* text, const char* word) { return strcmp(text, word) == 0; }

static int read_plan(int argc, char** argv, plan* p) {
  if (argc != 6) return 0;
  p->pattern = argv[1];
  p->posix = is(argv[2], "posix");
  p->collective = is(argv[1], "collective");
  p->strided = p->collective || is(argv[1], "strided");
  p->shared = p->strided || is(argv[1], "contiguous");
  p->bytes = atoll(argv[3]);
  p->transfer = atoll(argv[4]);
  if (!p->shared && !is(argv[1], "file-per-process")) return 0;
  if (!p->posix && !is(argv[2], "mpiio")) return 0;
  if (p->collective && p->posix) return 0;
  if (p->transfer < 8 || p->transfer % 8 != 0 || p->transfer > 1 << 24) return 0;
  return p->bytes >= p->transfer && p->bytes % p->transfer == 0;
}

static void name_file(const plan* p, const char* folder) {
  const int number = p->shared ? 0 : rank;
  if (snprintf(path, sizeof path, "%s/culmen-io.%d", folder, number) >= (int)sizeof path)
    fail("the path is too long:", "");
}

static void report(const plan* p, double write_s, double read_s, int64_t wrong) {
  const double mb = 1e-6 * (double)p->bytes * size;
  printf("write = %.3f\nread = %.3f\nrate = %.3f\nwrong = %lld\n", mb / write_s, mb / read_s,
         2 * mb / (write_s + read_s), (long long)wrong);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  plan p;
  if (!read_plan(argc, argv, &p)) {
    if (rank == 0) fprintf(stderr, "iobench: PATTERN API BYTES TRANSFER FOLDER\n");
    MPI_Finalize();
    return 2;
  }
  name_file(&p, argv[5]);
  char* buffer = malloc((size_t)(p.transfer * pieces_per_call(&p)));
  if (buffer == NULL) fail("no memory for", "its pieces");
  int64_t wrong = 0, all_wrong = 0;
  const double write_s = measure(&p, 1, buffer, &wrong);
  drop_pages();
  const double read_s = measure(&p, 0, buffer, &wrong);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (!p.posix && getenv("IOBENCH_HINTS") != NULL) print_hints(&p);
  MPI_Barrier(MPI_COMM_WORLD);
  if (!p.shared || rank == 0) unlink(path);
  if (rank == 0) report(&p, write_s, read_s, all_wrong);
  free(buffer);
  MPI_Bcast(&all_wrong, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return all_wrong != 0;
}
