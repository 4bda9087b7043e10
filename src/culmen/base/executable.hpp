// Where programs are.
#pragma once
#include <string>

namespace culmen {

/// True for a regular file that this process may execute.
bool is_program(const std::string& path);
/// The absolute path of the first program of that name in a folder of PATH ("/usr/bin:/bin" without a PATH);
/// empty if there is none.
std::string find_on_path(const std::string& name);
/// The same with the folders of `path` instead of PATH.
std::string find_on_path(const std::string& name, const std::string& path);
/// Folder of the executable or shared object that holds this code (dladdr), without a trailing slash.
std::string own_folder();
/// The `culmen` executable (native worker, slot and guard program): CULMEN_EXECUTABLE, else beside own_folder() in the
/// layouts of the wheel, the installed tree and the build tree, else on PATH. Throws Error with the searched folders.
std::string find_executable();

}  // namespace culmen
