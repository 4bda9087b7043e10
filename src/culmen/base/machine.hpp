// The identity of this machine.
#pragma once
#include <string>

namespace culmen {

/// As in gethostname(2).
std::string host_name();
/// The kernel's id of this boot (proc(5), sys/kernel/random/boot_id): it changes at each start of the machine, and is
/// the same in all containers on it.
std::string boot_id();
/// Processes with the same one know each other by the same ids (pid_namespaces(7)).
std::string process_namespace();

}  // namespace culmen
