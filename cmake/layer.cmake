# culmen_unity(TARGET, FILES): compiles the sources of a target in batches of FILES neighbours, unless CULMEN_UNITY is off (as in the preset `checked`, where each
# file must compile by itself). Headers take most of a cold build's time, and a batch reads them once.
function(culmen_unity target files)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${CULMEN_UNITY} UNITY_BUILD_BATCH_SIZE ${files})
  if(CULMEN_UNITY)
    # A batch includes its sources, so GCC takes the local types in them for types of a header.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# culmen_layer(NAME [LINK target...]): every *.cpp under src/culmen/NAME becomes one OBJECT library.
# What a layer may use is checked by tools/check_layers against the table in ARCHITECTURE.md.
function(culmen_layer name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  add_library(culmen_${name} OBJECT ${sources})
  target_include_directories(culmen_${name} PUBLIC ${CULMEN_SOURCE_ROOT})
  target_link_libraries(culmen_${name} PUBLIC fmt::fmt Threads::Threads ${arg_LINK})
  culmen_unity(culmen_${name} 24)
endfunction()

set(CULMEN_TEST_HANGS_S 1800 CACHE STRING "Seconds after which a C++ test counts as hung; more seeds need more time")

# culmen_test(NAME [LINK target...] [ALONE file...] [SHARDS n]): every *.cpp of this folder becomes one GoogleTest program and one ctest entry, or n of
# them, which run side by side.
# ALONE: files whose local names are those of other files too; they compile by themselves.
function(culmen_test name)
  cmake_parse_arguments(arg "" "SHARDS" "LINK;ALONE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  set(hangs_s ${CULMEN_TEST_HANGS_S})
  if(CULMEN_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    math(EXPR hangs_s "${hangs_s} * 5")
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE culmen GTest::gtest GTest::gmock GTest::gtest_main ${arg_LINK})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  culmen_unity(${name} 12)
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT arg_SHARDS)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${hangs_s})
    return()
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    add_test(NAME ${name}_${shard} COMMAND ${name})
    set_tests_properties(${name}_${shard} PROPERTIES TIMEOUT ${hangs_s} COST 1000
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
