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
  /// The value that the loss gives its residuals. Without residuals, its own.
  double value_of(const Outcome& outcome) const;
  /// From a stored value, which is minimized, to the user's value; and the reverse.
  double as_given(std::size_t objective, double value) const;
};

/// Completes an outcome that is ok. If `figures` is true, it takes the objectives from the extra values of their names.
/// It changes the sign of the maximized objectives, computes the value of the residuals if the loss is robust, and adds
/// the violations of limits. An outcome that lacks one of these values becomes wrong_shape, with its name. Ignores
/// expressions (see judge.hpp).
void judge(Outcome& outcome, const Goals& goals, bool figures);

/// The value of that name as it was given, in an outcome that has passed judge(); none if there is none.
std::optional<double> figure_in(const Outcome& outcome, const Goals& goals, const std::string& name);
/// The outcome becomes wrong_shape: it has no value of this name. `who` needs it. `objectives`: values that are no
/// extras any more. `parameters`: other names that it could be.
void fail_for_lack(Outcome& outcome, const std::string& name, const std::string& who,
                   const std::vector<Objective>& objectives = {}, const std::vector<std::string>& parameters = {});

/// Appends for each bound of a limit by how much an outcome is beyond it, or below 0 how far it is from it; lower
/// before upper, NaN if the outcome lacks the value. The outcome has passed judge().
void slacks(const Outcome& outcome, const Goals& goals, std::vector<double>& out);

/// Layout:
///
///     u32 n, n x (text name, u8 direction) | u32 m, m x (text name, f64 lower, f64 upper) | loss
///     | u32 n, n x (text name, text expression) derived | u32 n, the same for conditions
///     | u32 n, n x text residuals
void encode(const Goals& goals, ByteWriter& out);
Goals decode_goals(ByteReader& in);

}  // namespace culmen
