# One module per MPI, src/culmen/transport/mpi/module.c compiled once for each: libculmen_mpi_openmpi.so, libculmen_mpi_mpich.so. Nothing else links an MPI.
# The first compiler wrapper of a kind wins, so -DCULMEN_MPICC="VENV/bin/mpicc;mpicc.mpich" builds against another installation.
set(CULMEN_MPICC "mpicc.openmpi;mpicc.mpich;mpicc" CACHE STRING "MPI compiler wrappers to build modules for; those that are not there are passed over")

# Sets `kind` to openmpi, mpich (Intel's too) or "" from what the wrapper's mpi.h defines.
function(culmen_mpi_kind wrapper kind)
  set(probe ${CMAKE_BINARY_DIR}/mpi_probe.c)
  file(WRITE ${probe} "#include <mpi.h>\n")
  execute_process(COMMAND ${wrapper} -E -dM ${probe} OUTPUT_VARIABLE macros ERROR_QUIET)
  set(${kind} "" PARENT_SCOPE)
  if(macros MATCHES "#define OPEN_MPI 1")
    set(${kind} openmpi PARENT_SCOPE)
  elseif(macros MATCHES "#define MPICH_VERSION")
    set(${kind} mpich PARENT_SCOPE)
  endif()
endfunction()

function(culmen_mpi_module kind wrapper)
  execute_process(COMMAND ${wrapper} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words)  # the compiler
  culmen_mpi_library(culmen_mpi_${kind} "${words}" ON ${CULMEN_SOURCE_ROOT}/culmen/transport/mpi/module.c)
  culmen_mpi_library(culmen_mpiprobe_${kind} "${words}" OFF
    ${CULMEN_SOURCE_ROOT}/mpiprobe/communicators.c ${CULMEN_SOURCE_ROOT}/mpiprobe/counters.c
    ${CULMEN_SOURCE_ROOT}/mpiprobe/members.c ${CULMEN_SOURCE_ROOT}/mpiprobe/messages.c ${CULMEN_SOURCE_ROOT}/mpiprobe/mpi.c
    ${CULMEN_SOURCE_ROOT}/mpiprobe/names.c ${CULMEN_SOURCE_ROOT}/mpiprobe/openmp.c ${CULMEN_SOURCE_ROOT}/mpiprobe/record.c
    ${CULMEN_SOURCE_ROOT}/mpiprobe/requests.c ${CULMEN_SOURCE_ROOT}/mpiprobe/run.c ${CULMEN_SOURCE_ROOT}/mpiprobe/samples.c
    ${CULMEN_SOURCE_ROOT}/mpiprobe/threads.c ${CULMEN_SOURCE_ROOT}/mpiprobe/timeline.c
    ${CULMEN_SOURCE_ROOT}/mpiprobe/worlds.c ${CULMEN_PROBE_WRAPPERS})
  file(GLOB sources CONFIGURE_DEPENDS ${CULMEN_SOURCE_ROOT}/mpiprobe/autotune/*.c)
  culmen_mpi_library(culmen_autotune_${kind} "${words}" OFF ${sources}
    ${CULMEN_SOURCE_ROOT}/mpiprobe/members.c ${CULMEN_SOURCE_ROOT}/mpiprobe/mpi.c ${CULMEN_TUNE_MADE})
  # A preloaded library finds the program's MPI itself. Thread-local data without a call.
  foreach(target culmen_mpiprobe_${kind} culmen_autotune_${kind})
    target_compile_options(${target} PRIVATE -ftls-model=initial-exec)
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  endforeach()
  culmen_mpi_benchmark(${kind} "${words}")
  culmen_mpi_iobench(${kind} "${words}")
  if(kind STREQUAL "openmpi")
    culmen_mpi_library(culmen_counted_openmpi "${words}" OFF ${CULMEN_SOURCE_ROOT}/mpibench/suites/counted.c ${CULMEN_BENCH_COUNTERS})
    target_include_directories(culmen_counted_openmpi PRIVATE ${CULMEN_SOURCE_ROOT}/mpibench)
    target_link_libraries(culmen_counted_openmpi PRIVATE ${CMAKE_DL_LIBS})
  endif()
  message(STATUS "MPI module: ${kind} by ${wrapper}")
endfunction()

# The benchmark of an MPI. It exports its counting functions, which the MPI then calls instead of its own.
function(culmen_mpi_benchmark kind words)
  set(target culmen_mpibench_${kind})
  file(GLOB sources CONFIGURE_DEPENDS ${CULMEN_SOURCE_ROOT}/mpibench/*.c)
  add_executable(${target} ${sources} ${CULMEN_BENCH_COUNTERS})
  culmen_mpi_words(${target} "${words}" ON)
  target_include_directories(${target} PRIVATE ${CULMEN_SOURCE_ROOT}/mpibench)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CULMEN_MODULE_DIR} ENABLE_EXPORTS ON)
endfunction()

# What writes and reads files by MPI-IO, for `culmen tune io`.
function(culmen_mpi_iobench kind words)
  set(target culmen_iobench_${kind})
  add_executable(${target} ${CULMEN_SOURCE_ROOT}/iobench/main.c)
  culmen_mpi_words(${target} "${words}" ON)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CULMEN_MODULE_DIR})
endfunction()

# A library by the words of an MPI's compiler wrapper. linked: with the MPI.
function(culmen_mpi_library target words linked)
  add_library(${target} MODULE ${ARGN})
  culmen_mpi_words(${target} "${words}" ${linked})
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CULMEN_MODULE_DIR})
endfunction()

function(culmen_mpi_words target words linked)
  foreach(word ${words})
    if(word MATCHES "^-I(.+)")
      target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_MATCH_1})
    elseif(word MATCHES "^-(L|l|Wl,)")
      if(NOT linked)
        continue()
      elseif(word MATCHES "^-L(.+)")
        target_link_directories(${target} PRIVATE ${CMAKE_MATCH_1})
      else()
        target_link_libraries(${target} PRIVATE ${word})
      endif()
    else()
      target_compile_options(${target} PRIVATE ${word})
    endif()
  endforeach()
  target_include_directories(${target} PRIVATE ${CULMEN_SOURCE_ROOT})
  set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden)
endfunction()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(CULMEN_PROBE_WRAPPERS ${CMAKE_BINARY_DIR}/mpiprobe/wrappers.c)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/mpiprobe)
add_custom_command(
  OUTPUT ${CULMEN_PROBE_WRAPPERS}
  COMMAND Python3::Interpreter ${CULMEN_SOURCE_ROOT}/mpiprobe/wrappers.py ${CULMEN_SOURCE_ROOT}/mpiprobe/functions.ini
          ${CULMEN_PROBE_WRAPPERS}
  DEPENDS ${CULMEN_SOURCE_ROOT}/mpiprobe/wrappers.py ${CULMEN_SOURCE_ROOT}/mpiprobe/signatures.py
          ${CULMEN_SOURCE_ROOT}/mpiprobe/functions.ini)

file(GLOB CULMEN_MPI_DATA CONFIGURE_DEPENDS ${CULMEN_SOURCE_ROOT}/../python/culmen/launch/mpi/*.toml)
set(CULMEN_TUNE_MADE ${CMAKE_BINARY_DIR}/mpiprobe/tune_wrappers.c ${CMAKE_BINARY_DIR}/mpiprobe/tune_tables.c)
set(scripts ${CULMEN_SOURCE_ROOT}/mpiprobe/autotune/wrappers.py ${CULMEN_SOURCE_ROOT}/mpiprobe/autotune/tables.py)
list(GET CULMEN_TUNE_MADE 0 wrappers)
list(GET CULMEN_TUNE_MADE 1 tables)
add_custom_command(
  OUTPUT ${CULMEN_TUNE_MADE}
  COMMAND Python3::Interpreter ${CULMEN_SOURCE_ROOT}/mpiprobe/autotune/wrappers.py ${CULMEN_SOURCE_ROOT}/mpiprobe/functions.ini ${wrappers}
  COMMAND Python3::Interpreter ${CULMEN_SOURCE_ROOT}/mpiprobe/autotune/tables.py ${tables} ${CULMEN_MPI_DATA}
  DEPENDS ${scripts} ${CULMEN_SOURCE_ROOT}/mpiprobe/signatures.py ${CULMEN_SOURCE_ROOT}/mpiprobe/functions.ini ${CULMEN_MPI_DATA}
          ${CULMEN_SOURCE_ROOT}/../python/culmen/launch/mpi/versions.py)

set(CULMEN_BENCH_COUNTERS ${CMAKE_BINARY_DIR}/mpibench/counters.c)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/mpibench)
add_custom_command(
  OUTPUT ${CULMEN_BENCH_COUNTERS}
  COMMAND Python3::Interpreter ${CULMEN_SOURCE_ROOT}/mpibench/counters.py ${CULMEN_BENCH_COUNTERS} ${CULMEN_MPI_DATA}
  DEPENDS ${CULMEN_SOURCE_ROOT}/mpibench/counters.py ${CULMEN_MPI_DATA})

set(CULMEN_MODULE_DIR ${CMAKE_BINARY_DIR}/modules)
list(APPEND CMAKE_BUILD_RPATH ${CULMEN_MODULE_DIR})  # how programs of the build tree find them
set(CULMEN_MPI_MODULES)
set(CULMEN_MPI_PROGRAMS)
foreach(name ${CULMEN_MPICC})
  unset(wrapper)
  find_program(wrapper ${name} NO_CACHE)
  if(NOT wrapper)
    continue()
  endif()
  culmen_mpi_kind(${wrapper} kind)
  if(kind AND NOT TARGET culmen_mpi_${kind})
    culmen_mpi_module(${kind} ${wrapper})
    list(APPEND CULMEN_MPI_MODULES culmen_mpi_${kind} culmen_mpiprobe_${kind} culmen_autotune_${kind})
    list(APPEND CULMEN_MPI_PROGRAMS culmen_mpibench_${kind} culmen_iobench_${kind})
    if(TARGET culmen_counted_${kind})
      list(APPEND CULMEN_MPI_MODULES culmen_counted_${kind})
    endif()
  endif()
endforeach()
if(NOT CULMEN_MPI_MODULES)
  message(STATUS "MPI module: none (no MPI compiler among ${CULMEN_MPICC}); culmen will run on local processes")
endif()
