// The goals of a study: objectives and limits.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/evaluation/loss.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/named_expression.hpp"

namespace culmen {

enum class Direction : unsigned char { minimize = 0, maximize = 1 };

struct Objective {
  std::string name;
  Direction direction = Direction::minimize;
  bool operator==(const Objective&) const = default;
};

/// A value that must stay within bounds, inclusive.
struct Limit {
  std::string name;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool operator==(const Limit&) const = default;
};

/// Objectives (none: the value, to be minimized), limits of extra values, the loss of residuals, and expressions of
/// parameters and figures. Figures are the extra values and the value of an outcome.
struct Goals {
  std::vector<Objective> objectives;
  std::vector<Limit> limits;
  Loss loss = {};
  std::vector<NamedExpression> derived = {};     ///< numbers; each becomes an extra value that the next ones may use
  std::vector<NamedExpression> conditions = {};  ///< like limits: the violation of the condition counts
  std::vector<std::string> residuals = {};       ///< names of extra values that are the residuals; empty: none
  bool operator==(const Goals&) const = default;

  /// Throws InputError: an empty or repeated name, a limit without bounds or with lower > upper.
  void check() const;
  bool several() const { return objectives.size() > 1; }
  bool limited() const { return !limits.empty() || !conditions.empty(); }
  bool is_derived(const std::string& name) const;
  /// The loss of the outcome's residuals, or its own value if it has no residuals.
  double value_of(const Outcome& outcome) const;
  /// Converts a stored value, which is minimized, to the user's value, and back.
  double as_given(std::size_t objective, double value) const;
};

/// Completes an outcome that is ok. If `figures` is true, it takes the objectives from the extra values of their names.
/// It changes the sign of the maximized objectives, computes the value of the residuals if the loss is robust, and adds
/// the violations of limits. An outcome that lacks one of these values becomes wrong_shape, with its name. Ignores
/// expressions (see judge.hpp).
void judge(Outcome& outcome, const Goals& goals, bool figures);

/// The figure of this name as the evaluator returned it. The outcome must have passed judge(). Empty if it has no such
/// figure.
std::optional<double> figure_in(const Outcome& outcome, const Goals& goals, const std::string& name);
/// The outcome becomes wrong_shape, because it has no value of this name. `who`: the part of the study that needs the
/// value. `objectives`: values that are no longer among the extra values. `parameters`: further names for "did you
/// mean".
void fail_for_lack(Outcome& outcome, const std::string& name, const std::string& who,
                   const std::vector<Objective>& objectives = {}, const std::vector<std::string>& parameters = {});

/// Appends one number for each bound of a limit, the lower bound first. The number is positive if the outcome violates
/// the bound, and negative if it does not. Its absolute value is the distance from the bound. It is NaN if the outcome
/// lacks the value. The outcome must have passed judge().
void slacks(const Outcome& outcome, const Goals& goals, std::vector<double>& out);

/// Layout:
///
///     u32 n, n x (text name, u8 direction) | u32 m, m x (text name, f64 lower, f64 upper) | loss
///     | u32 n, n x (text name, text expression) derived | u32 n, the same for conditions
///     | u32 n, n x text residuals
void encode(const Goals& goals, ByteWriter& out);
Goals decode_goals(ByteReader& in);

}  // namespace culmen
