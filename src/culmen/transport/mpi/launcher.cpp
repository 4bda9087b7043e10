#include "culmen/transport/mpi/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

namespace culmen {
namespace {

/// Slurm's own steps (batch script, interactive shell, extern) have numbers from here on.
constexpr std::uint64_t first_special_step = 0xfffffff0;

std::optional<std::uint64_t> number(const char* variable) {
  const char* text = variable != nullptr ? std::getenv(variable) : nullptr;
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  return error == std::errc() && end == view.data() + view.size() ? std::optional(value) : std::nullopt;
}

/// The number of tasks on this node, in a step with `tasks` tasks. Slurm writes "3,2(x3)" for four nodes.
std::optional<std::uint64_t> slurm_tasks_here(std::uint64_t tasks) {
  const char* text = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  auto node = number("SLURM_NODEID");
  if (text == nullptr || !node || number("SLURM_STEP_NUM_TASKS") != tasks) return std::nullopt;
  static const std::regex entry(R"((\d{1,9})(?:\(x(\d{1,9})\))?,?)");
  for (std::cregex_iterator it(text, text + std::strlen(text), entry), end; it != end; ++it) {
    const std::uint64_t nodes = (*it)[2].matched ? std::stoul((*it)[2]) : 1;
    if (*node < nodes) return std::stoul((*it)[1]);
    *node -= nodes;
  }
  return std::nullopt;
}

std::optional<Launch> read(LauncherKind kind, const char* rank, const char* size, const char* local_size = nullptr) {
  const auto r = number(rank), n = number(size);
  if (!r || !n) return std::nullopt;
  auto local = number(local_size);
  if (!local) local = slurm_tasks_here(*n);
  const auto here = std::clamp<std::uint64_t>(local.value_or(*n), 1, std::max<std::uint64_t>(1, *n));
  return Launch{kind, static_cast<int>(*r), static_cast<int>(*n), static_cast<int>(here)};
}

}  // namespace

Launch detect_launch() {
  if (std::getenv("CULMEN_RUN") != nullptr) return {};
  if (const auto launch =
          read(LauncherKind::openmpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"))
    return *launch;
  if (const auto launch = read(LauncherKind::mpich, "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS")) return *launch;
  if (number("SLURM_STEP_ID").value_or(first_special_step) >= first_special_step) return {};
  return read(LauncherKind::slurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS").value_or(Launch{});
}

}  // namespace culmen
