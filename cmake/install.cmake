# What is installed where. Component `wheel`: the Python package; only scikit-build-core asks for it. Component `native`: headers, library and programs, for C++.
# Modules are found through the loader's own search path: the rpath of whatever asks for them.
if(SKBUILD)
  install(TARGETS _core LIBRARY DESTINATION culmen COMPONENT wheel EXCLUDE_FROM_ALL)
  install(TARGETS ${CULMEN_MPI_MODULES} ${CULMEN_IOBUF} culmen_cost LIBRARY DESTINATION culmen/lib COMPONENT wheel EXCLUDE_FROM_ALL)
  install(TARGETS ${CULMEN_MPI_PROGRAMS} culmen_pingpong RUNTIME DESTINATION culmen/lib COMPONENT wheel EXCLUDE_FROM_ALL)
  install(TARGETS culmen_program RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT wheel EXCLUDE_FROM_ALL)
  install(FILES ${CULMEN_SOURCE_ROOT}/culmen/worker/core/evaluator.h ${CULMEN_SOURCE_ROOT}/culmen/worker/core/culmen_evaluator.f90
    DESTINATION culmen/include/culmen COMPONENT wheel EXCLUDE_FROM_ALL)
  set_target_properties(_core PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
  foreach(folder lib lib64)
    foreach(packages site-packages dist-packages)
      list(APPEND wheel_rpath "$ORIGIN/../${folder}/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/${packages}/culmen/lib")
    endforeach()
  endforeach()
  add_custom_target(culmen_wheel DEPENDS _core culmen_program culmen_cost ${CULMEN_MPI_MODULES} ${CULMEN_IOBUF} ${CULMEN_MPI_PROGRAMS} culmen_pingpong)
endif()

include(CMakePackageConfigHelpers)
set(modules ${CMAKE_INSTALL_LIBDIR}/culmen)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/culmen)
set_target_properties(culmen_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${modules};${wheel_rpath}")
target_compile_features(culmen PUBLIC cxx_std_20)
target_link_options(culmen INTERFACE $<INSTALL_INTERFACE:-Wl,-rpath,$<INSTALL_PREFIX>/${modules}>)
install(TARGETS culmen_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT native)
install(TARGETS ${CULMEN_MPI_MODULES} ${CULMEN_IOBUF} culmen_cost LIBRARY DESTINATION ${modules} COMPONENT native)
install(TARGETS ${CULMEN_MPI_PROGRAMS} culmen_pingpong RUNTIME DESTINATION ${modules} COMPONENT native)
install(TARGETS culmen EXPORT culmen ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT native)
install(EXPORT culmen NAMESPACE culmen:: FILE culmenTargets.cmake DESTINATION ${package} COMPONENT native)
write_basic_package_version_file(culmenConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_SOURCE_DIR}/cmake/culmenConfig.cmake ${CMAKE_BINARY_DIR}/culmenConfigVersion.cmake
  DESTINATION ${package} COMPONENT native)
install(DIRECTORY ${CULMEN_SOURCE_ROOT}/culmen/base ${CULMEN_SOURCE_ROOT}/culmen/space DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/culmen COMPONENT native
  FILES_MATCHING PATTERN "*.hpp")
install(FILES ${CULMEN_SOURCE_ROOT}/culmen/evaluation/loss.hpp ${CULMEN_SOURCE_ROOT}/culmen/evaluation/recommendation.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/culmen/evaluation
  COMPONENT native)
install(FILES ${CULMEN_SOURCE_ROOT}/culmen/optimizer/core/options.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/culmen/optimizer/core
  COMPONENT native)
# Where programs found it before the optimizers had rooms.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/installed/optimizer/options.hpp CONTENT "#pragma once\n#include \"culmen/optimizer/core/options.hpp\"\n" @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/installed/optimizer/options.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/culmen/optimizer COMPONENT native)
install(FILES ${CULMEN_SOURCE_ROOT}/culmen/study/run/culmen.hpp ${CULMEN_SOURCE_ROOT}/culmen/worker/core/evaluator.h ${CULMEN_SOURCE_ROOT}/culmen/worker/core/culmen_evaluator.f90
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/culmen COMPONENT native)
