// Which machine this is.
#pragma once
#include <string>

namespace culmen {

/// As in gethostname(2).
std::string host_name();
/// The kernel's id of this boot (proc(5), sys/kernel/random/boot_id): another after each start of the machine, the same
/// in all containers on it.
std::string boot_id();
/// Processes that share it know each other by the same ids (pid_namespaces(7)).
std::string process_namespace();

}  // namespace culmen
