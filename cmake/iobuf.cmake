# libculmen-iobuf.so, which is preloaded into programs of users; see docs/howto/buffered-io.md. It needs no other library.
set(CULMEN_IOBUF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  file(GLOB sources CONFIGURE_DEPENDS ${CULMEN_SOURCE_ROOT}/iobuf/*.c)
  add_library(culmen_iobuf MODULE ${sources})
  target_include_directories(culmen_iobuf PRIVATE ${CULMEN_SOURCE_ROOT})
  # Inline definitions of the C library's functions would stand beside ours.
  target_compile_options(culmen_iobuf PRIVATE -O2 -U_FORTIFY_SOURCE -ftls-model=initial-exec)
  target_link_libraries(culmen_iobuf PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  set_target_properties(culmen_iobuf PROPERTIES C_VISIBILITY_PRESET hidden OUTPUT_NAME culmen-iobuf UNITY_BUILD OFF
    LIBRARY_OUTPUT_DIRECTORY ${CULMEN_MODULE_DIR})
  set(CULMEN_IOBUF culmen_iobuf)
endif()
