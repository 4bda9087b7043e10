#include "culmen/transport/mpi/launcher.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
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

std::optional<Launch> read(LauncherKind kind, const char* rank, const char* size, const char* local_size = nullptr) {
  const auto r = number(rank), n = number(size);
  if (!r || !n) return std::nullopt;
  const auto here = std::clamp<std::uint64_t>(number(local_size).value_or(*n), 1, std::max<std::uint64_t>(1, *n));
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
