#include "culmen/transport/mpi/loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {

constexpr const char* kinds[] = {"openmpi", "mpich"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// From a mapped library's file name. MPICH and Intel share libmpi.so.12 (MPICH's ABI initiative); Open MPI's is
/// libmpi.so.40.
std::string kind_of_library(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("libmpich.so") || name.starts_with("libmpi.so.12")) return "mpich";
  return name.starts_with("libmpi.so") ? "openmpi" : "";
}

/// Also finds a libmpi that was loaded RTLD_LOCAL, as mpi4py's is.
std::string kind_in_process() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find('/');
    if (path == line.npos) continue;
    if (auto kind = kind_of_library(std::string_view(line).substr(path)); !kind.empty()) return kind;
  }
  return "";
}

std::string kind_of_launcher(LauncherKind kind) {
  switch (kind) {
    case LauncherKind::openmpi:
      return "openmpi";
    case LauncherKind::mpich:
      return "mpich";
    case LauncherKind::slurm:
      return std::getenv("PMIX_RANK") != nullptr ? "openmpi" : "mpich";
    case LauncherKind::none:
      break;
  }
  throw TransportError("this process is not a rank of an MPI launch; start it with culmen launch, mpiexec or srun");
}

std::string file_of(const std::string& kind) {
  const auto folder = environment("CULMEN_MODULE_DIR");
  const auto file = fmt::format("libculmen_mpi_{}.so", kind);
  return folder.empty() ? file : folder + "/" + file;
}

std::string modules_here() {
  std::string found;
  for (const auto* kind : kinds) {
    if (dlopen(file_of(kind).c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) continue;
    found += found.empty() ? kind : fmt::format(", {}", kind);
  }
  return found.empty() ? "none" : found;
}

MpiModule load(const std::string& name, std::string why) {
  const bool is_path = name.find('/') != name.npos;
  const auto file = is_path ? name : file_of(name);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string reason = dlerror();
    throw TransportError(
        fmt::format("culmen has no module for the MPI '{}' ({}): {}; modules here: {}. To make another one, build "
                    "culmen with -DCULMEN_MPICC=<that MPI's mpicc>",
                    name, why, reason, modules_here()));
  }
  const auto get = reinterpret_cast<culmen_mpi_module_fn>(dlsym(library, CULMEN_MPI_MODULE_SYMBOL));
  const auto* module = get != nullptr ? get() : nullptr;
  if (module == nullptr || module->abi != CULMEN_MPI_MODULE_ABI) {
    throw TransportError(
        fmt::format("'{}' ({}) is not an MPI module of this version of culmen ({})", file, why, CULMEN_VERSION));
  }
  return {module, std::move(why)};
}

}  // namespace

std::string launcher_name(LauncherKind kind) {
  if (kind == LauncherKind::slurm) return "srun";
  return kind == LauncherKind::openmpi ? "Open MPI's launcher" : "MPICH's launcher";
}

MpiModule load_mpi_module(const Launch& launch) {
  if (const auto kind = kind_in_process(); !kind.empty()) return load(kind, loaded_before);
  if (const auto named = environment("CULMEN_MPI"); !named.empty()) {
    if (named != kinds[0] && named != kinds[1] && named.find('/') == named.npos) {
      throw TransportError(fmt::format("CULMEN_MPI must be openmpi, mpich, or the path of a module, got '{}'", named));
    }
    return load(named, "named by CULMEN_MPI");
  }
  return load(kind_of_launcher(launch.kind), "that of " + launcher_name(launch.kind));
}

std::string library_name(const culmen_mpi_module& mpi) {
  std::array<char, 1024> text{};
  if (mpi.library_version(text.data(), text.size()) != 0) return "an MPI of unknown version";
  std::string line(text.data());
  line.resize(std::min(line.size(), line.find_first_of(",\r\n")));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

}  // namespace culmen
