// Environment modules (Tcl's or Lmod).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "culmen/worker/process/program_run.hpp"

namespace culmen {

/// The variables that `module load` of these modules changes or adds, as in a login shell (bash). PATH and
/// LD_LIBRARY_PATH start as in this process. A process does this once for the same modules; other callers wait for the
/// first. Variables that a module removes stay. Throws InputError with one sentence if there is no bash or no command
/// `module`, if a module cannot be loaded, or after 60 s. `program` runs the shell, so that its owner can interrupt it.
std::map<std::string, std::string> load_modules(const std::vector<std::string>& modules, const std::string& run_marker,
                                                ProgramRun& program);

}  // namespace culmen
