// The CPUs that this process may use.
#pragma once
#include <sched.h>

#include <cstddef>
#include <span>

namespace culmen {

/// By its affinity, which a container or a launcher can limit. At least 1.
std::size_t usable_cpus();

/// How many of `ranks`, the ranks of this node, evaluate on the CPUs of this one. A launcher can bind each rank to CPUs
/// of its own. The others are found as children of the same parent; if none is found, no rank is taken to be bound.
std::size_t ranks_on_these_cpus(std::size_t ranks);

/// The same from the affinities: of this rank, of its parent, and of all children of the parent.
std::size_t ranks_on_these_cpus(std::size_t ranks, const cpu_set_t& own, const cpu_set_t& parents,
                                std::span<const cpu_set_t> children);

}  // namespace culmen
