// Errors (uncertainties) of the parameters of a C++ program's fit.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "culmen/study/config/result.hpp"
#include "culmen/study/config/study_config.hpp"
#include "culmen/study/crew/rank_protocol.hpp"
#include "culmen/study/run/run_options.hpp"

namespace culmen {

/// Rows and columns are in the order of the space, with fixed parameters. NaN: the parameter has no error.
struct FitErrors {
  std::vector<std::vector<double>> covariance;
  std::vector<std::vector<double>> sandwich = {};  ///< with a robust loss
  std::string message = {};  ///< why all or some parameters have no errors; empty: all have errors
  bool operator==(const FitErrors&) const = default;
};

/// Whether errors can be computed: the study has ended by itself with residuals, its best candidate is feasible, and a
/// parameter is free. The same in all ranks of a launch.
bool has_errors(const Space& space, const StudyResult& result);
/// A sentence if a step of the differences violates a constraint. The errors then depend on the constraint, which
/// errors_of_fit() does not know. Empty if there is none. The same in all ranks of a launch.
std::string constraint_at_best(const Space& space, const StudyResult& result);
/// From central differences around the best candidate: two evaluations for each free parameter, on the workers of
/// `options`. A parameter is free if it is real, active, at no bound, and if an evaluation next to it succeeds. See
/// covariance.hpp for the rules.
FitErrors errors_of_fit(const StudyConfig& config, const RunOptions& options, const Function& function,
                        const StudyResult& result) noexcept;
/// In the other ranks of a launch, collective with errors_of_fit.
FitErrors errors_from_master(const OwnEvaluators& own) noexcept;

/// Text for the other ranks, with all digits.
std::string to_note(const FitErrors& errors);
FitErrors from_note(std::string_view note);

}  // namespace culmen
