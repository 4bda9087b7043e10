// Reads and writes a file in every way. It knows its own traffic.
#include "known_traffic.h"

#define DATA "world/file data.bin"
enum { n = 8, bytes = n * (int)sizeof(int) };
static int there[n], back[n];
static MPI_File file;
static MPI_Request request;

static void finish(void) { CALL(MPI_Wait, "", 0, &request, MPI_STATUS_IGNORE); }

#define BOTH(word, buffer)                                                                        \
  do {                                                                                            \
    const MPI_Offset at = rank * bytes;                                                           \
    CALL(MPI_File_##word, DATA, bytes, file, buffer, n, MPI_INT, MPI_STATUS_IGNORE);              \
    CALL(MPI_File_##word##_at, DATA, bytes, file, at, buffer, n, MPI_INT, MPI_STATUS_IGNORE);     \
    CALL(MPI_File_##word##_all, DATA, bytes, file, buffer, n, MPI_INT, MPI_STATUS_IGNORE);        \
    CALL(MPI_File_##word##_at_all, DATA, bytes, file, at, buffer, n, MPI_INT, MPI_STATUS_IGNORE); \
    CALL(MPI_File_##word##_shared, DATA, bytes, file, buffer, n, MPI_INT, MPI_STATUS_IGNORE);     \
    CALL(MPI_File_##word##_ordered, DATA, bytes, file, buffer, n, MPI_INT, MPI_STATUS_IGNORE);    \
    CALL(MPI_File_i##word, DATA, bytes, file, buffer, n, MPI_INT, &request);                      \
    finish();                                                                                     \
    CALL(MPI_File_i##word##_at, DATA, bytes, file, at, buffer, n, MPI_INT, &request);             \
    finish();                                                                                     \
    CALL(MPI_File_i##word##_all, DATA, bytes, file, buffer, n, MPI_INT, &request);                \
    finish();                                                                                     \
    CALL(MPI_File_i##word##_at_all, DATA, bytes, file, at, buffer, n, MPI_INT, &request);         \
    finish();                                                                                     \
    CALL(MPI_File_i##word##_shared, DATA, bytes, file, buffer, n, MPI_INT, &request);             \
    finish();                                                                                     \
    CALL(MPI_File_##word##_all_begin, DATA, bytes, file, buffer, n, MPI_INT);                     \
    CALL(MPI_File_##word##_all_end, DATA, 0, file, buffer, MPI_STATUS_IGNORE);                    \
    CALL(MPI_File_##word##_at_all_begin, DATA, bytes, file, at, buffer, n, MPI_INT);              \
    CALL(MPI_File_##word##_at_all_end, DATA, 0, file, buffer, MPI_STATUS_IGNORE);                 \
    CALL(MPI_File_##word##_ordered_begin, DATA, bytes, file, buffer, n, MPI_INT);                 \
    CALL(MPI_File_##word##_ordered_end, DATA, 0, file, buffer, MPI_STATUS_IGNORE);                \
  } while (0)

static void manage(MPI_Info info) {
  MPI_Offset bytes_there = 0;
  MPI_Info_set(info, "cb_buffer_size", "65536");
  CALL(MPI_File_set_view, DATA, 0, file, 0, MPI_BYTE, MPI_BYTE, "native", info);
  MPI_Info_set(info, "striping_unit", "4096");
  CALL(MPI_File_set_info, DATA, 0, file, info);
  CALL(MPI_File_set_atomicity, DATA, 0, file, 0);
  CALL(MPI_File_set_size, DATA, 0, file, 4096);
  CALL(MPI_File_preallocate, DATA, 0, file, 8192);
  CALL(MPI_File_get_size, DATA, 0, file, &bytes_there);
  CALL(MPI_File_seek, DATA, 0, file, 0, MPI_SEEK_SET);
  CALL(MPI_File_get_position_shared, DATA, 0, file, &bytes_there);
  CALL(MPI_File_seek_shared, DATA, 0, file, 0, MPI_SEEK_SET);
  CALL(MPI_File_sync, DATA, 0, file);
}

int main(int count, char** words) {
  begin(&count, &words);
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_nodes", "1");
  MPI_Info_set(info, "access_style", "write_once");
  CALL(MPI_File_open, "world", 0, MPI_COMM_WORLD, "data.bin", MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
  manage(info);
  MPI_Info_free(&info);
  BOTH(write, there);
  BOTH(read, back);
  CALL(MPI_File_close, DATA, 0, &file);
  CALL(MPI_File_open, "world", 0, MPI_COMM_WORLD, "data.bin", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  CALL(MPI_File_read, DATA, bytes, file, back, n, MPI_INT, MPI_STATUS_IGNORE);
  CALL(MPI_File_close, DATA, 0, &file);
  if (rank == 0) CALL(MPI_File_delete, "", 0, "data.bin", MPI_INFO_NULL);
  end();
}
