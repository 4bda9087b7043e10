// Chooses and makes the optimizer of a study.
#pragma once
#include <cstdint>
#include <memory>

#include "culmen/optimizer/catalogue/choice.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/study/config/study_config.hpp"

namespace culmen {

/// Whether the evaluator returns residuals, or expressions compute them from its results.
bool returns_residuals(const StudyConfig& config);
/// The kind of result that the optimizer can expect of an evaluation.
Yield yield_of(const StudyConfig& config);
/// Chooses the optimizer if the study names none or "auto", and says why. Throws InputError as chosen_optimizer() does.
void choose_optimizer(StudyConfig& config);
/// The optimizer of a study that begins with this number of evaluations (0: no limit), with its starts and constraints.
/// Throws InputError if the optimizer cannot work on this study.
std::unique_ptr<Optimizer> make_search(const StudyConfig& config, std::uint64_t evaluations);
/// Whether the first candidate is the space's start, or without a start the middle of the space.
bool begins_at_start(const StudyConfig& config);
/// Whether the optimizer can end the study by a rule of its own, such as local searches that agree.
bool can_converge(const StudyConfig& config);
/// Throws InputError if the optimizer or an option is unknown, or if the optimizer cannot work on this study.
void check_optimizer(const StudyConfig& config);

}  // namespace culmen
