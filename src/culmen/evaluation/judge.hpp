// Judges outcomes by the goals of a study, with the expressions in them.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "culmen/evaluation/goals.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// Goals whose expressions are parsed. Immutable and thread-safe; a copy is cheap.
class Judge {
 public:
  Judge() : Judge({}, {}) {}
  /// Throws InputError as Goals::check() does, and for a mistake in an expression.
  Judge(Goals goals, const Space& space);

  /// Completes the outcome of the whole vector x, where inactive parameters are NaN. It computes the derived values,
  /// which become extra values, and takes the residuals out of them. Then it calls judge() of goals.hpp, and adds the
  /// violations of conditions. A derived value with an inactive parameter is NaN; a condition with one does not apply.
  /// An outcome that lacks a value becomes wrong_shape, with its name.
  void complete(Outcome& outcome, std::span<const double> x, bool figures) const;
  /// As slacks() of goals.hpp, with the numbers of conditions after the numbers of limits. `x` is a whole vector. Only
  /// for spaces without conditions.
  void slacks(const Outcome& outcome, std::span<const double> x, std::vector<double>& out) const;
  const Goals& goals() const;
  /// The names of the values that an outcome must have for the expressions; each with the name of its expression.
  std::vector<std::pair<std::string, std::string>> needs() const;
  /// For each parameter of the whole space: whether an expression uses it.
  std::vector<bool> used_parameters() const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace culmen
