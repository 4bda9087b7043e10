#include "culmen/broker/rules.hpp"

#include <algorithm>

namespace culmen {

const char* word_of(StopReason reason) {
  return std::ranges::find(stop_words, reason, &std::pair<StopReason, const char*>::first)->second;
}

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::none:
      return "running";
    case StopReason::evaluations:
      return "limit of evaluations reached";
    case StopReason::target:
      return "target reached";
    case StopReason::exhausted:
      return "no more candidates";
    case StopReason::stagnation:
      return "no more improvement";
    case StopReason::converged:
      return "converged";
    case StopReason::wall_time:
      return "wall time reached";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::callback:
      return "stopped by the callback";
    case StopReason::failure:
      return "an evaluation failed";
    case StopReason::all_failed:
      return "all evaluations failed";
    case StopReason::set_up:
      return "the evaluator cannot be set up";
    case StopReason::error:
      return "error";
  }
  return "unknown";
}

bool is_final(StopReason reason) {
  return reason == StopReason::evaluations || reason == StopReason::target || reason == StopReason::exhausted ||
         reason == StopReason::stagnation || reason == StopReason::converged;
}

}  // namespace culmen
