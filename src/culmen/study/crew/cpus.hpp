// The CPUs of this machine.
#pragma once
#include <cstddef>

namespace culmen {

/// How many CPUs this process may run on.
std::size_t usable_cpus();

}  // namespace culmen
