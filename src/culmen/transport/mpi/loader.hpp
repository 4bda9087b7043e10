// Which MPI to use, and its module, loaded at run time.
#pragma once
#include <string>

#include "culmen/transport/mpi/launcher.hpp"
#include "culmen/transport/mpi/module.h"

namespace culmen {

inline constexpr char loaded_before[] = "loaded in this process already";

struct MpiModule {
  const culmen_mpi_module* functions = nullptr;
  std::string why;  ///< why this MPI, for messages: loaded_before, "named by CULMEN_MPI", "started by …"
};

/// "Open MPI's launcher", "MPICH's launcher", "srun".
std::string launcher_name(LauncherKind kind);
/// Loads the module: a libmpi already in the process, else CULMEN_MPI ("openmpi", "mpich", or a module's path), else
/// the launcher's MPI. Modules are searched in CULMEN_MODULE_DIR, then where the loader searches this program's
/// libraries. Stays loaded. Throws TransportError: one sentence.
MpiModule load_mpi_module(const Launch& launch);
/// MPI_Get_library_version up to its first comma or end of line: "Open MPI v4.1.4". MPI need not be initialised.
std::string library_name(const culmen_mpi_module& mpi);

}  // namespace culmen
