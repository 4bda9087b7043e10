// Which machine this is.
#pragma once
#include <string>

namespace culmen {

/// As in gethostname(2).
std::string host_name();
/// The kernel's id of this boot (proc(5), sys/kernel/random/boot_id): another after each start of the machine, the same
/// in all containers on it.
std::string boot_id();

}  // namespace culmen
