// When a study ends and what a failed evaluation leads to.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace culmen {

/// Any that is set ends the study. Looked at after each tell, in the order of tells.
struct StopRules {
  std::uint64_t evaluations = 0;                                 ///< told evaluations, exact; 0: no limit
  double target = -std::numeric_limits<double>::infinity();      ///< ends once a value is <= target
  double wall_time_s = std::numeric_limits<double>::infinity();  ///< of this start of the master
  std::uint64_t stagnation = 0;     ///< told evaluations without an improvement; 0: no limit
  double stagnation_tolerance = 0;  ///< what counts as one: more than this share of the whole improvement so far

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
  retry,     ///< tried again up to `retries` times, then penalised
  stop,      ///< the study stops; the evaluation is not recorded, so resume tries it again
};

struct FailurePolicy {
  OnFailure on_failure = OnFailure::penalise;
  std::uint32_t retries = 2;       ///< of OnFailure::retry
  std::uint32_t lost_workers = 3;  ///< an evaluation that lost this many workers is a crash of its own
  /// The study stops when so many were told since its start and none of the study ever succeeded; 0: never.
  std::uint64_t give_up_after = 100;

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
  evaluations,  ///< the budget is used up
  target,       ///< a value reached the target
  exhausted,    ///< the optimizer has nothing more to try
  stagnation,   ///< nothing has become better for long
  wall_time,    ///< resumable
  interrupted,  ///< by a signal or a caller; resumable
  failure,      ///< FailurePolicy::stop; resumable
  all_failed,   ///< FailurePolicy::give_up_after; resumable
  set_up,       ///< a worker cannot set the evaluator up: bad input; resumable
  error,        ///< no worker is left, a job of the optimizer failed, or the store cannot be written; resumable
};

/// As kept in stores and given to programs.
inline constexpr std::array<std::pair<StopReason, const char*>, 11> stop_words{{
    {StopReason::none, "none"},
    {StopReason::evaluations, "evaluations"},
    {StopReason::target, "target"},
    {StopReason::exhausted, "exhausted"},
    {StopReason::stagnation, "stagnation"},
    {StopReason::wall_time, "wall_time"},
    {StopReason::interrupted, "interrupted"},
    {StopReason::failure, "failure"},
    {StopReason::all_failed, "all_failed"},
    {StopReason::set_up, "set_up"},
    {StopReason::error, "error"},
}};
const char* word_of(StopReason reason);
/// As shown to people.
const char* to_string(StopReason reason);
/// True when the study is over for good; the others can be resumed.
bool is_final(StopReason reason);

}  // namespace culmen
