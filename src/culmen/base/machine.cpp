#include "culmen/base/machine.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace culmen {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

}  // namespace culmen
