// Environment modules (Tcl's or Lmod).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "culmen/worker/process/program_run.hpp"

namespace culmen {

/// The variables that `module load` of each changes or adds, as a login shell (bash) does it; PATH and LD_LIBRARY_PATH
/// begin as they are here. Once in a process for the same modules: others wait for the first. Variables that a module
/// removes stay. Throws InputError with one sentence: no bash, no command `module`, a module that cannot be loaded, 60
/// s passed. `program` runs the shell, so that its owner can interrupt it.
std::map<std::string, std::string> load_modules(const std::vector<std::string>& modules, const std::string& run_marker,
                                                ProgramRun& program);

}  // namespace culmen
