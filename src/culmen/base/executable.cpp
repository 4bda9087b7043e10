#include "culmen/base/executable.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

std::vector<fs::path> folders_in(std::string_view path) {
  std::vector<fs::path> folders;
  for (auto rest = path; !rest.empty();) {
    const auto end = std::min(rest.find(':'), rest.size());
    if (end > 0) folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

std::string path_variable() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/bin:/bin";
}

/// Folders that may hold the executable: the wheel, a virtual environment, the installed tree, the build tree; in the
/// end PATH.
std::vector<fs::path> places_of_executable() {
  const fs::path own = own_folder();
  std::vector<fs::path> places;
  for (const char* relative :
       {".", "bin", "../bin", "../libexec/culmen", "../../../../bin", "../../bin", "../program"}) {
    places.push_back((own / relative).lexically_normal());
  }
  for (fs::path up = own; up.has_relative_path(); up = up.parent_path()) places.push_back(up / "src/program");
  for (auto& folder : folders_in(path_variable())) places.push_back(std::move(folder));
  return places;
}
}  // namespace

bool is_program(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

std::string find_on_path(const std::string& name) { return find_on_path(name, path_variable()); }

std::string find_on_path(const std::string& name, const std::string& path) {
  for (const auto& folder : folders_in(path)) {
    if (is_program(folder / name)) return fs::absolute(folder / name);
  }
  return {};
}

std::string own_folder() {
  Dl_info info{};
  void* map = nullptr;
  // The main program's link_map has an empty name, and Dl_info has the name of its call, perhaps relative to an earlier
  // folder.
  const bool found = dladdr1(reinterpret_cast<const void*>(&own_folder), &info, &map, RTLD_DL_LINKMAP) != 0;
  const char* name = found && map != nullptr ? static_cast<link_map*>(map)->l_name : "";
  std::error_code error;
  const fs::path file = name[0] != '\0' ? fs::canonical(name, error) : fs::read_symlink("/proc/self/exe", error);
  return file.parent_path().string();
}

std::string find_executable() {
  if (const char* named = std::getenv("CULMEN_EXECUTABLE"); named != nullptr && *named != '\0') {
    if (is_program(named)) return named;
    throw Error(fmt::format("CULMEN_EXECUTABLE names '{}', which is not an executable file", named));
  }
  std::string looked;
  for (const auto& place : places_of_executable()) {
    if (is_program(place / "culmen")) return (place / "culmen").string();
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw Error(fmt::format(
      "the program 'culmen' is not installed beside this library; looked in {} (CULMEN_EXECUTABLE can name it)",
      looked));
}

}  // namespace culmen
