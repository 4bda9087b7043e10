#include "culmen/study/config/mode.hpp"

#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/search.hpp"

namespace culmen {
namespace {
/// With fewer workers, the work of idle ones is worth less than what is learnt later. Measured: benchmarks/README.md.
constexpr std::size_t fewest_asynchronous = 4;
/// Evaluations for each worker and parameter. With fewer, generations reach more targets. Measured: same place.
constexpr std::uint64_t plenty = 100;

/// Generations would leave most workers idle, or the budget has evaluations to spare.
bool is_plenty(const StudyConfig& c, std::size_t workers) {
  const auto n = c.space.size();
  return workers > 2 * (n + 1) || c.stop.evaluations == 0 || c.stop.evaluations >= plenty * n * workers;
}

bool is_better_at_any_time(const StudyConfig& c, std::size_t workers) {
  if (c.optimizer_why.empty() || workers < fewest_asynchronous) return false;
  const auto chosen = default_optimizer(c.space, yield_of(c));
  return chosen.any_time && (!chosen.frugal || is_plenty(c, workers));
}
}  // namespace

void settle_mode(StudyConfig& c, std::size_t workers, const std::string& begun) {
  if (c.generational) return;
  auto asynchronous = c;
  asynchronous.generational = false;
  const auto of_asynchronous = fingerprint_of(asynchronous);
  const bool goes_on = begun == fingerprint_of(c) || begun == of_asynchronous;
  c.generational = goes_on ? begun != of_asynchronous : !is_better_at_any_time(c, workers);
  if (!*c.generational) c.fingerprint = of_asynchronous;
}

}  // namespace culmen
