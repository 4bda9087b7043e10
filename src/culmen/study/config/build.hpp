// The version of culmen.
#pragma once
#include <string>

namespace culmen {

/// For example "0.1.0".
std::string version();
/// Version and compiler.
std::string build_description();

}  // namespace culmen
