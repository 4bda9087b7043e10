#define _GNU_SOURCE
#include "variables.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

// Open MPI forbids writing the variable of MPI_Allgatherv, although new communicators read it like those of the others.
static int set_forbidden(const char* name, int value) {
  enum { source_set = 4, can_be_set = 4 };  // MCA_BASE_VAR_SOURCE_SET, MCA_BASE_VAR_FLAG_SETTABLE
  int (*find)(const char*, int*), (*flag)(int, int, _Bool), (*set)(int, const void*, size_t, int, const char*);
  *(void**)&find = dlsym(RTLD_DEFAULT, "mca_base_var_find_by_name");
  *(void**)&flag = dlsym(RTLD_DEFAULT, "mca_base_var_set_flag");
  *(void**)&set = dlsym(RTLD_DEFAULT, "mca_base_var_set_value");
  int index;
  return !find || !flag || !set || find(name, &index) != 0 || flag(index, can_be_set, 1) != 0 ||
         set(index, &value, sizeof value, source_set, NULL) != 0;
}

int set_variable(const char* name, int value) {
  int index, count;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return 1;
  if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) return 1;
  const int failed = MPI_T_cvar_write(handle, &value) != MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  return failed && set_forbidden(name, value);
}

const char* print_variable(const char* name) {
  int index, count, length = 0, verbosity, binding, scope;
  MPI_Datatype type;
  MPI_T_enum names;
  MPI_T_cvar_handle handle;
  union {
    int number;
    long long large;
    double real;
    char text[4096];
  } value;
  memset(&value, 0, sizeof value);
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return "there is no such variable";
  MPI_T_cvar_get_info(index, NULL, &length, &verbosity, &type, &names, NULL, &length, &binding, &scope);
  if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS) return "it cannot be read";
  const int failed = count > (int)sizeof value.text || MPI_T_cvar_read(handle, &value) != MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  if (failed) return "it cannot be read";
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  if (type == MPI_CHAR) {
    printf("ok %.4000s", value.text);
  } else if (type == MPI_DOUBLE) {
    printf("ok %.17g", value.real);
  } else {
    printf("ok %lld", bytes == 8 ? value.large : bytes == 1 ? (long long)value.text[0] : (long long)value.number);
  }
  int items = 0;
  if (names != MPI_T_ENUM_NULL) MPI_T_enum_get_info(names, &items, NULL, &length);
  for (int i = 0; i < items; ++i) {
    int known;
    char item[200];
    length = sizeof item;
    if (MPI_T_enum_get_item(names, i, &known, item, &length) == MPI_SUCCESS && known == value.number)
      printf(" %s", item);
  }
  return NULL;
}
