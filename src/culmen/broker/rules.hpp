// When a study ends, and how failed evaluations are handled.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace culmen {

/// Each rule that is set can end the study. Rules are checked after each tell, in the order of tells.
struct StopRules {
  std::uint64_t evaluations = 0;                                 ///< told evaluations, exact; 0: no limit
  double target = -std::numeric_limits<double>::infinity();      ///< ends once a value is <= target
  double wall_time_s = std::numeric_limits<double>::infinity();  ///< since this start of the master
  std::uint64_t stagnation = 0;     ///< told evaluations without an improvement; 0: no limit
  double stagnation_tolerance = 0;  ///< an improvement is more than this share of the whole improvement so far

  /// Visits each field that users set, by its key in the study file.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("evaluations", &StopRules::evaluations);
    visit("target", &StopRules::target);
    visit("wall_time_s", &StopRules::wall_time_s);
    visit("stagnation", &StopRules::stagnation);
    visit("stagnation_tolerance", &StopRules::stagnation_tolerance);
  }
};

enum class OnFailure : unsigned char {
  penalise,  ///< told to the optimizer as worse than any value
  retry,     ///< retried up to `retries` times, then penalised
  stop,      ///< the study stops; the evaluation is not recorded, so a resume retries it
};

struct FailurePolicy {
  OnFailure on_failure = OnFailure::penalise;
  std::uint32_t retries = 2;       ///< of OnFailure::retry
  std::uint32_t lost_workers = 3;  ///< an evaluation that lost this many workers counts as crashed
  /// The study stops if this number of evaluations was told since its start, and no evaluation of the study ever
  /// succeeded; 0: never.
  std::uint64_t give_up_after = 100;
  /// It also stops if no evaluation ever succeeded, and this number had a wrong shape. This is a mistake in the study.
  static constexpr std::uint64_t give_up_without_shape = 3;

  /// As StopRules::each_setting.
  template <class Visit>
  static void each_setting(Visit visit) {
    visit("on_failure", &FailurePolicy::on_failure);
    visit("retries", &FailurePolicy::retries);
    visit("give_up_after", &FailurePolicy::give_up_after);
  }
};

enum class StopReason : unsigned char {
  none = 0,
  evaluations,  ///< the limit of evaluations is reached
  target,       ///< a value reached the target
  exhausted,    ///< the optimizer has no more candidates
  stagnation,   ///< no improvement for a long time
  converged,    ///< the optimizer's own rule: see Source::converged()
  wall_time,    ///< resumable
  interrupted,  ///< by a signal or a caller; resumable
  callback,     ///< the program's callback stopped the run; resumable
  failure,      ///< FailurePolicy::stop; resumable
  all_failed,   ///< FailurePolicy::give_up_after; resumable
  set_up,       ///< a worker cannot set the evaluator up: bad input; resumable
  error,        ///< no worker is left, a job of the optimizer failed, or the store cannot be written; resumable
};

/// The words in stores and for programs.
inline constexpr std::array<std::pair<StopReason, const char*>, 13> stop_words{{
    {StopReason::none, "none"},
    {StopReason::evaluations, "evaluations"},
    {StopReason::target, "target"},
    {StopReason::exhausted, "exhausted"},
    {StopReason::stagnation, "stagnation"},
    {StopReason::converged, "converged"},
    {StopReason::wall_time, "wall_time"},
    {StopReason::interrupted, "interrupted"},
    {StopReason::callback, "callback"},
    {StopReason::failure, "failure"},
    {StopReason::all_failed, "all_failed"},
    {StopReason::set_up, "set_up"},
    {StopReason::error, "error"},
}};
const char* word_of(StopReason reason);
/// The text for people.
const char* to_string(StopReason reason);
/// True if the study has ended for good; otherwise it can be resumed.
bool is_final(StopReason reason);

}  // namespace culmen
