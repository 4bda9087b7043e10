#include "culmen/study/config/broker_options.hpp"

#include <algorithm>
#include <limits>

namespace culmen {
namespace {
// The calls of a program may take any time, and a call that waits behind another one may wait long.
constexpr double prefetch_items_below_s = 0.05;
// A candidate that waits at a worker was proposed before the worker's last result was known. Without generations this
// costs more than it saves, unless a message takes as long as an evaluation.
constexpr double prefetch_asynchronous_below_s = 0.0002;
// Candidates that wait at a worker take memory here, too.
std::uint64_t most_waiting(std::size_t parameters) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20, least = 8, most = 64;
  return std::clamp(most_bytes / (sizeof(double) * std::max<std::size_t>(parameters, 1)), least, most);
}
}  // namespace

BrokerOptions broker_options_of(const StudyConfig& config, const Source& source, bool prefetch) {
  BrokerOptions o;
  o.rules = config.stop;
  o.failures = config.failures;
  o.prefetch = prefetch;
  o.most_waiting = most_waiting(config.space.size());
  o.batch = static_cast<std::uint32_t>(batch_of(config.evaluator));
  if (!source.generational()) o.prefetch_below_s = prefetch_asynchronous_below_s;
  if (source.open_ended()) {
    o.ask_ahead = std::numeric_limits<std::uint64_t>::max();
    o.prefetch_below_s = prefetch_items_below_s;
  }
  return o;
}

}  // namespace culmen
