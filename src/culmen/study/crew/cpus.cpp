#include "culmen/study/crew/cpus.hpp"

#include <sched.h>

namespace culmen {

std::size_t usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

}  // namespace culmen
