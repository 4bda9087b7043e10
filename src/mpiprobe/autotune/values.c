// MPI_T gives access to the variables. Open MPI's MPI_T_init_thread loads all components of all frameworks, which takes
// a quarter of a second. MPI_Init has already loaded the components that collectives use. So Open MPI's own functions
// for variables are used instead, if the library has them.
#include "mpiprobe/autotune/values.h"

#include <stddef.h>

#if defined(OPEN_MPI)
enum { source_set = 4, can_be_set = 4 };  // MCA_BASE_VAR_SOURCE_SET, MCA_BASE_VAR_FLAG_SETTABLE
static int (*find_own)(const char*, int*);
static int (*get_own)(int, const void*, void*, void*);  // the place of its value
static int (*set_own)(int, const void*, size_t, int, const char*);
static int (*flag_own)(int, int, _Bool);

static int begin_own(void) {
  find_own = (int (*)(const char*, int*))probe_object("mca_base_var_find_by_name");
  get_own = (int (*)(int, const void*, void*, void*))probe_object("mca_base_var_get_value");
  set_own = (int (*)(int, const void*, size_t, int, const char*))probe_object("mca_base_var_set_value");
  flag_own = (int (*)(int, int, _Bool))probe_object("mca_base_var_set_flag");
  return find_own != NULL && get_own != NULL && set_own != NULL;
}
#endif
static int is_own;
static int (*write_value)(MPI_T_cvar_handle, const void*);

int tune_begin_values(int level) {
  int got;
#if defined(OPEN_MPI)
  is_own = begin_own();
#endif
  if (is_own) return 1;
  write_value = REAL(MPI_T_cvar_write);
  return REAL(MPI_T_init_thread)(level, &got) == MPI_SUCCESS;
}

struct tune_value tune_find_value(const char* name) {
  struct tune_value found = {0};
  int count = 0;
  if (name == NULL) return found;
#if defined(OPEN_MPI)
  if (is_own) found.known = find_own(name, &found.index) == 0;
  if (is_own) return found;
#endif
  found.known = REAL(MPI_T_cvar_get_index)(name, &found.index) == MPI_SUCCESS &&
                REAL(MPI_T_cvar_handle_alloc)(found.index, NULL, &found.handle, &count) == MPI_SUCCESS && count == 1;
  return found;
}

int tune_read(const struct tune_value* variable, int* value) {
#if defined(OPEN_MPI)
  const int* place = NULL;
  if (is_own && variable->known && get_own(variable->index, &place, NULL, NULL) == 0 && place != NULL) {
    *value = *place;
    return 1;
  }
  if (is_own) return 0;
#endif
  return variable->known && REAL(MPI_T_cvar_read)(variable->handle, value) == MPI_SUCCESS;
}

int tune_write(const struct tune_value* variable, int value) {
#if defined(OPEN_MPI)
  if (is_own) {
    if (set_own(variable->index, &value, sizeof value, source_set, NULL) == 0) return 1;
    // Open MPI forbids it for MPI_Allgatherv, although new communicators read the variable like those of the others.
    return flag_own != NULL && flag_own(variable->index, can_be_set, 1) == 0 &&
           set_own(variable->index, &value, sizeof value, source_set, NULL) == 0;
  }
#endif
  return write_value(variable->handle, &value) == MPI_SUCCESS;
}

int tune_has_text(const char* name) {
  char text[4096] = "";
  int index = 0, count = 0;
  MPI_T_cvar_handle handle;
#if defined(OPEN_MPI)
  char* const* place = NULL;
  if (is_own)
    return find_own(name, &index) == 0 && get_own(index, &place, NULL, NULL) == 0 && place != NULL && *place != NULL &&
           **place != '\0';
#endif
  return REAL(MPI_T_cvar_get_index)(name, &index) == MPI_SUCCESS &&
         REAL(MPI_T_cvar_handle_alloc)(index, NULL, &handle, &count) == MPI_SUCCESS && count < (int)sizeof text &&
         REAL(MPI_T_cvar_read)(handle, text) == MPI_SUCCESS && text[0] != '\0';
}
