# One line per dependency: who needs it. A program's folder on PATH, such as that of a conda, is no place for libraries:
# the loader would not find them at run time. CMAKE_PREFIX_PATH is one.
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)
find_package(Threads REQUIRED)          # store/ (writer thread), transport/ (watcher), worker/
find_package(SQLite3 REQUIRED)          # store/
find_package(fmt REQUIRED)              # base/ (messages), used everywhere
find_package(Eigen3 REQUIRED NO_MODULE) # base/ (decompositions), optimizer/, study/, bindings (header only)
find_package(Boost REQUIRED COMPONENTS context) # optimizer/ (Random: Sobol; Math: tests by ranks; Context: fibers), store/ (CRC), transport/network (Asio, Beast)
find_package(OpenSSL 3 REQUIRED)        # transport/network (TLS)
find_package(NLopt REQUIRED)            # optimizer/methods/local, optimizer/methods/bayes (its C interface)
find_package(nlohmann_json REQUIRED)    # worker/ (commands: input and output as JSON), study/ (descriptions); header only
find_library(CULMEN_RE2 re2 REQUIRED)   # worker/ (commands: figures by a regular expression, in linear time)
if(CULMEN_TESTS)
  find_package(GTest REQUIRED)          # tests/
endif()
if(CULMEN_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module) # python/bindings
endif()
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH ON)
