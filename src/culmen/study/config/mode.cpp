#include "culmen/study/config/mode.hpp"

#include <fmt/format.h>

#include <optional>

#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/search.hpp"

namespace culmen {
namespace {
/// With fewer workers, generations lose little, and their candidates do not depend on timing: see the measurements in
/// benchmarks/README.md.
constexpr std::size_t fewest_asynchronous = 4;
/// Evaluations for each worker and parameter. With fewer, generations reach more targets by the same number of
/// evaluations: see the same measurements.
constexpr std::uint64_t plenty = 100;

std::string fingerprint_in(StudyConfig config, Mode mode) {
  config.mode = ModeDecision{mode};
  return fingerprint_of(config);
}

/// With the user's mode, if there is one.
std::optional<Mode> mode_of_store(const StudyConfig& config, const std::string& begun) {
  for (const auto mode : {Mode::generational, Mode::asynchronous})
    if ((!config.mode || config.mode->mode == mode) && begun == fingerprint_in(config, mode)) return mode;
  return {};
}

/// The store keeps the edition by its fingerprint.
void settle_edition(StudyConfig& config, const std::string& begun) {
  if (begun.empty() || mode_of_store(config, begun)) return;
  auto former = config;
  for (int number = static_cast<int>(newest_edition) - 1; number >= static_cast<int>(Edition::first); --number) {
    const auto edition = static_cast<Edition>(number);
    former.edition = edition;
    if (!mode_of_store(former, begun)) continue;
    config.edition = edition;
    config.fingerprint = fingerprint_of(config);
    return;
  }
}

/// Generations keep all workers busy, and the budget has no evaluations to spare.
bool is_short(const StudyConfig& config, std::size_t workers) {
  const auto n = config.space.size();
  const auto budget = config.stop.evaluations;
  return workers <= 2 * (n + 1) && budget != 0 && budget < plenty * n * workers;
}
}  // namespace

std::string to_string(ModeReason reason) {
  switch (reason) {
    case ModeReason::user:
      return "set in the study";
    case ModeReason::store:
      return "the store keeps this mode";
    case ModeReason::named_optimizer:
      return "default for a named optimizer";
    case ModeReason::optimizer:
      return "default for this optimizer";
    case ModeReason::few_workers:
      return fmt::format("fewer than {} workers", fewest_asynchronous);
    case ModeReason::short_budget:
      return "few evaluations per worker";
    case ModeReason::many_workers:
      return fmt::format("{} or more workers", fewest_asynchronous);
  }
  return "";
}

ModeDecision mode_of_user(bool generational) { return {mode_if(generational), ModeReason::user}; }

Mode mode_of(const StudyConfig& config) { return config.mode ? config.mode->mode : Mode::generational; }

ModeDecision decide_mode(const StudyConfig& config, std::size_t workers, const std::string& begun) {
  if (config.mode) return *config.mode;
  if (const auto of_store = mode_of_store(config, begun)) return {*of_store, ModeReason::store};
  if (!config.optimizer_is_chosen) return {Mode::generational, ModeReason::named_optimizer};
  const auto chosen = default_optimizer(config.space, yield_of(config));
  if (!chosen.any_time) return {Mode::generational, ModeReason::optimizer};
  if (workers < fewest_asynchronous) return {Mode::generational, ModeReason::few_workers};
  if (chosen.frugal && is_short(config, workers)) return {Mode::generational, ModeReason::short_budget};
  return {Mode::asynchronous, ModeReason::many_workers};
}

void settle_mode(StudyConfig& config, std::size_t workers, const std::string& begun) {
  settle_edition(config, begun);
  if (config.mode) return;
  config.mode = decide_mode(config, workers, begun);
  if (config.mode->mode == Mode::asynchronous) config.fingerprint = fingerprint_of(config);
}

}  // namespace culmen
