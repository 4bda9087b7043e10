#include "culmen/study/config/build.hpp"

#include <fmt/format.h>

namespace culmen {

std::string version() { return CULMEN_VERSION; }
std::string build_description() {
  return fmt::format("culmen {} (C++ {}, compiler {})", CULMEN_VERSION, __cplusplus / 100 % 100, __VERSION__);
}

}  // namespace culmen
