# With CULMEN_ODR, one check for each program: do all its sources and the library define each class in the same way?
# GCC's link-time optimizer finds differences while it reads all objects of a program. Therefore the objects contain its
# input, too. But the programs are linked from usual machine code: to optimize each program as a whole takes minutes.
if(CULMEN_ODR)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "CULMEN_ODR needs GCC; the compiler is ${CMAKE_CXX_COMPILER_ID}")
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-flto> $<$<COMPILE_LANGUAGE:CXX>:-ffat-lto-objects>)
  add_link_options(-fno-lto)
endif()

# culmen_odr_of(NAME, OBJECTS, RESULT): sets RESULT to the command that compares the definitions in these objects. It joins them without making machine
# code. The joined object is of no use.
function(culmen_odr_of name objects result)
  set(folder ${CMAKE_BINARY_DIR}/odr/${name})
  file(GENERATE OUTPUT ${folder}/objects CONTENT "$<JOIN:${objects},\n>\n")
  set(${result} ${CMAKE_CXX_COMPILER} -O0 -flto -r -flinker-output=rel -nostdlib -Werror=odr -Werror=lto-type-mismatch @${folder}/objects
    -o ${folder}/joined.o PARENT_SCOPE)
endfunction()

# Of all programs in this folder and below that are linked with the library.
function(culmen_check_odr folder)
  if(NOT CULMEN_ODR)
    return()
  endif()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below ${folders})
    culmen_check_odr(${below})
  endforeach()
  get_property(layers TARGET culmen PROPERTY SOURCES)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(NOT type STREQUAL "EXECUTABLE" OR NOT "culmen" IN_LIST libraries)
      continue()
    endif()
    set(objects $<TARGET_OBJECTS:${target}> ${layers})
    culmen_odr_of(${target} "${objects}" command)
    set(done ${CMAKE_BINARY_DIR}/odr/${target}/done)
    add_custom_command(OUTPUT ${done} DEPENDS ${objects} VERBATIM COMMENT "Comparing the definitions in ${target}"
      COMMAND ${command} COMMAND ${CMAKE_COMMAND} -E rm -f ${CMAKE_BINARY_DIR}/odr/${target}/joined.o COMMAND ${CMAKE_COMMAND} -E touch ${done})
    add_custom_target(odr_${target} ALL DEPENDS ${done})
  endforeach()
endfunction()
