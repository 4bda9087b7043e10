# One line per dependency: who needs it.
find_package(Threads REQUIRED)          # store/ (writer thread), transport/ (watcher), worker/
find_package(SQLite3 REQUIRED)          # store/
find_package(fmt REQUIRED)              # base/ (messages), used everywhere
find_package(Eigen3 REQUIRED NO_MODULE) # base/ (decompositions), optimizer/, study/, bindings (header only)
find_package(Boost REQUIRED COMPONENTS context) # optimizer/ (Random: Sobol; Math: tests by ranks; Context: fibers), store/ (CRC), transport/network (Asio, Beast)
find_package(OpenSSL 3 REQUIRED)        # transport/network (TLS)
find_package(NLopt REQUIRED)            # optimizer/local (its C interface)
find_package(nlohmann_json REQUIRED)    # worker/ (commands: input and output as JSON); header only
find_library(CULMEN_RE2 re2 REQUIRED)   # worker/ (commands: figures by a regular expression, in linear time)
if(CULMEN_TESTS)
  find_package(GTest REQUIRED)          # tests/
endif()
if(CULMEN_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module) # python/bindings
endif()
