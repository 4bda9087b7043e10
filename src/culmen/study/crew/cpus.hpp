// The CPUs that this process may use.
#pragma once
#include <sched.h>

#include <cstddef>
#include <span>

namespace culmen {

/// The number of CPUs in the affinity mask, which a container or a launcher can limit. At least 1.
std::size_t usable_cpus();

/// The number of this node's `ranks` that share the CPUs of this rank. A launcher can bind each rank to different CPUs.
/// The other ranks are the children of the same parent. If none is found, the ranks count as not bound.
std::size_t ranks_on_these_cpus(std::size_t ranks);

/// The same from the affinities of this rank, of its parent, and of all children of the parent.
std::size_t ranks_on_these_cpus(std::size_t ranks, const cpu_set_t& own, const cpu_set_t& parents,
                                std::span<const cpu_set_t> children);

}  // namespace culmen
