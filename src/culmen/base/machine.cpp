#include "culmen/base/machine.hpp"

#include <limits.h>
#include <unistd.h>

#include <array>
#include <filesystem>
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

std::string process_namespace() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/ns/pid", none).string();
}

}  // namespace culmen
