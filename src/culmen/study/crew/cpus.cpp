#include "culmen/study/crew/cpus.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

namespace culmen {
namespace {

std::optional<cpu_set_t> affinity(pid_t process) {
  cpu_set_t set;
  if (sched_getaffinity(process, sizeof set, &set) != 0) return std::nullopt;
  return set;
}

std::vector<cpu_set_t> affinities_of_children(pid_t parent) {
  std::vector<cpu_set_t> found;
  std::error_code failed;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", parent), failed)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;)
      if (const auto set = affinity(child)) found.push_back(*set);
  }
  return found;
}

bool overlap(const cpu_set_t& a, const cpu_set_t& b) {
  cpu_set_t both;
  CPU_AND(&both, &a, &b);
  return CPU_COUNT(&both) > 0;
}

}  // namespace

std::size_t usable_cpus() {
  const auto own = affinity(0);
  return own ? static_cast<std::size_t>(CPU_COUNT(&*own)) : 1;
}

/// If all share their CPUs, one of them does not evaluate: the master, or a relay.
std::size_t ranks_on_these_cpus(std::size_t ranks, const cpu_set_t& own, const cpu_set_t& parents,
                                std::span<const cpu_set_t> children) {
  const auto sharing =
      static_cast<std::size_t>(std::ranges::count_if(children, [&](const auto& c) { return overlap(own, c); }));
  const bool is_bound = sharing > 1 || !CPU_EQUAL(&own, &parents);
  const auto found = is_bound && sharing > 0 ? sharing : ranks;
  return std::max<std::size_t>(1, found < ranks ? found : ranks - 1);
}

std::size_t ranks_on_these_cpus(std::size_t ranks) {
  const auto parent = getppid();
  const auto own = affinity(0), parents = affinity(parent);
  if (!own || !parents) return std::max<std::size_t>(1, ranks - 1);
  return ranks_on_these_cpus(ranks, *own, *parents, affinities_of_children(parent));
}

}  // namespace culmen
