// The mode of a study: decided once, when the study begins.
#pragma once
#include <cstddef>
#include <string>

#include "culmen/evaluation/mode.hpp"

namespace culmen {

struct StudyConfig;

/// The reasons in the order in which they count.
enum class ModeReason : unsigned char {
  user,             ///< the user sets the mode
  store,            ///< the store keeps the mode of its study
  named_optimizer,  ///< the user names the optimizer: generational
  optimizer,        ///< culmen chose an optimizer that is generational by default
  few_workers,      ///< fewer than four workers: generational
  short_budget,     ///< generations use all workers, and the budget is short: generational
  many_workers,     ///< four workers or more: asynchronous
};
/// For example "4 or more workers".
std::string to_string(ModeReason reason);

struct ModeDecision {
  Mode mode = Mode::generational;
  ModeReason reason = ModeReason::user;
  bool operator==(const ModeDecision&) const = default;
};

/// The mode that the user chose by `generational`.
ModeDecision mode_of_user(bool generational);
/// Before the decision every study counts as generational.
Mode mode_of(const StudyConfig& config);
/// The decision for this number of workers. `begun` is the fingerprint of the study's store; it counts if it belongs to
/// this study in either mode. A budget is short below 100 evaluations for each worker and parameter. It counts only for
/// real parameters, and only up to 2 (n + 1) workers, n being the number of parameters.
ModeDecision decide_mode(const StudyConfig& config, std::size_t workers, const std::string& begun = {});
/// Stores the decision in `config`, with its fingerprint. Does not change a mode that is already set. If the store
/// began this study in an earlier edition, `config` gets this edition.
void settle_mode(StudyConfig& config, std::size_t workers, const std::string& begun = {});

}  // namespace culmen
