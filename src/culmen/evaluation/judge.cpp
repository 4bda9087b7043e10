#include "culmen/evaluation/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/space/expression.hpp"

namespace culmen {
namespace {
using Type = Expression::Type;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double echoed = 1e-3;  // programs print their parameters with few digits

std::vector<Expression> parse(const std::vector<NamedExpression>& named, const Space& space, Type type,
                              const char* what) {
  std::vector<Expression> out;
  for (const auto& [name, text] : named)
    out.push_back(parsed(fmt::format("{} '{}'", what, name), text, space.all(), type));
  return out;
}

void check_order(const std::vector<NamedExpression>& named, const std::vector<Expression>& expressions) {
  for (std::size_t k = 0; k < named.size(); ++k) {
    for (const auto& figure : expressions[k].figures()) {
      const auto found = std::ranges::find(named.begin() + static_cast<std::ptrdiff_t>(k), named.end(), figure,
                                           &NamedExpression::name);
      if (found == named.end()) continue;
      throw InputError(fmt::format("derived value '{}' uses {}", named[k].name,
                                   found->name == named[k].name
                                       ? "itself; give it another name"
                                       : fmt::format("'{}', which comes later; change their order", found->name)));
    }
  }
}

bool lacks_parameter(const Expression& expression, std::span<const double> x) {
  return std::ranges::any_of(expression.names(), [&](std::size_t i) { return std::isnan(x[i]); });
}

void check_names(const Goals& goals, const Space& space) {
  for (const auto& d : goals.derived) {
    if (std::ranges::find(space.all(), d.name, &Parameter::name) != space.all().end())
      throw InputError(fmt::format("derived value '{}' has the name of a parameter; give it another name", d.name));
  }
}
}  // namespace

struct Judge::Parsed {
  Goals goals;
  std::vector<Expression> derived, conditions;
  std::vector<std::string> parameters;  // names, for messages

  /// x, followed by the figures that the expression needs. The outcome fails if it lacks one.
  template <typename FigureOf>
  std::vector<double> arguments(const Expression& expression, std::span<const double> x, Outcome& outcome,
                                const std::string& who, const std::vector<Objective>& objectives,
                                FigureOf figure_of) const {
    std::vector<double> out(x.begin(), x.end());
    check_echoes(expression, x, outcome, who);
    for (const auto& name : expression.figures()) {
      const std::optional<double> figure = figure_of(name);
      if (figure) out.push_back(*figure);
      else if (outcome.ok()) fail_for_lack(outcome, name, who, objectives, parameters);
    }
    return out;
  }

  /// The outcome fails if one of its values has the name of a parameter that the expression uses, but is not its value.
  void check_echoes(const Expression& expression, std::span<const double> x, Outcome& outcome,
                    const std::string& who) const {
    for (const auto i : expression.names()) {
      const auto figure = outcome.extra(parameters[i]);
      if (!figure || std::isnan(x[i]) || std::abs(*figure - x[i]) <= echoed * std::max(1.0, std::abs(x[i]))) continue;
      outcome =
          Outcome::failure(Status::wrong_shape,
                           fmt::format("the outcome has a value '{0}' of {1:.6g}, but the parameter '{0}' is {2:.6g}; "
                                       "{3} could mean either; give the value another name",
                                       parameters[i], *figure, x[i], who));
      return;
    }
  }

  /// figures: only its extra values count, not its value.
  bool derive(Outcome& outcome, std::span<const double> x, bool figures) const {
    const auto figure_of = [&](const std::string& name) {
      if (const auto extra = outcome.extra(name)) return extra;
      return name == "value" && !figures ? std::optional(goals.value_of(outcome)) : std::nullopt;
    };
    for (std::size_t k = 0; k < derived.size(); ++k) {
      const auto& name = goals.derived[k].name;
      if (outcome.extra(name)) {
        outcome = Outcome::failure(
            Status::wrong_shape,
            fmt::format("the outcome already has a value '{}'; give the expression another name", name));
        return false;
      }
      const auto arguments =
          this->arguments(derived[k], x, outcome, fmt::format("the expression of {}", name), {}, figure_of);
      if (!outcome.ok()) return false;
      outcome.extras.emplace_back(name, lacks_parameter(derived[k], x) ? nan : derived[k].value(arguments));
    }
    return true;
  }

  bool take_residuals(Outcome& outcome) const {
    std::vector<double> residuals;
    for (const auto& name : goals.residuals) {
      const auto figure = figure_in(outcome, {}, name);
      if (!figure) return fail_for_lack(outcome, name, "[residuals]"), false;
      residuals.push_back(*figure);
    }
    std::erase_if(outcome.extras, [&](const auto& extra) {
      return std::ranges::find(goals.residuals, extra.first) != goals.residuals.end();
    });
    auto squares = Outcome::of_residuals(std::move(residuals));
    outcome.value = squares.value;
    outcome.residuals = std::move(squares.residuals);
    return true;
  }
};

Judge::Judge(Goals goals, const Space& space) {
  goals.check();
  check_names(goals, space);
  auto p = std::make_shared<Parsed>();
  p->derived = parse(goals.derived, space, Type::number, "derived value");
  check_order(goals.derived, p->derived);
  p->conditions = parse(goals.conditions, space, Type::truth, "limit");
  for (const auto& parameter : space.all()) p->parameters.push_back(parameter.name);
  p->goals = std::move(goals);
  parsed_ = std::move(p);
}

const Goals& Judge::goals() const { return parsed_->goals; }

std::vector<std::pair<std::string, std::string>> Judge::needs() const {
  const auto& p = *parsed_;
  std::vector<std::pair<std::string, std::string>> out;
  const auto add = [&](const Expression& expression, const std::string& name) {
    for (const auto& figure : expression.figures()) {
      if (!p.goals.is_derived(figure)) out.emplace_back(name, figure);
    }
  };
  for (std::size_t k = 0; k < p.derived.size(); ++k) add(p.derived[k], p.goals.derived[k].name);
  for (std::size_t k = 0; k < p.conditions.size(); ++k) add(p.conditions[k], p.goals.conditions[k].name);
  return out;
}

std::vector<bool> Judge::used_parameters() const {
  std::vector<bool> used(parsed_->parameters.size());
  for (const auto* expressions : {&parsed_->derived, &parsed_->conditions}) {
    for (const auto& expression : *expressions)
      for (const auto i : expression.names()) used[i] = true;
  }
  return used;
}

void Judge::complete(Outcome& outcome, std::span<const double> x, bool figures) const {
  const auto& p = *parsed_;
  if (!outcome.ok()) return;
  if (!p.derive(outcome, x, figures)) return;
  if (!p.goals.residuals.empty() && !p.take_residuals(outcome)) return;
  judge(outcome, p.goals, figures && p.goals.residuals.empty());
  for (std::size_t k = 0; k < p.conditions.size() && outcome.ok(); ++k) {
    const auto& condition = p.conditions[k];
    const auto who = fmt::format("[limits] {}", p.goals.conditions[k].name);
    const auto figure_of = [&](const std::string& name) { return figure_in(outcome, p.goals, name); };
    const auto arguments = p.arguments(condition, x, outcome, who, p.goals.objectives, figure_of);
    if (outcome.ok() && !lacks_parameter(condition, x)) outcome.violation += condition.violation(arguments);
  }
  if (!p.conditions.empty()) outcome.check_finite();
}

void Judge::slacks(const Outcome& outcome, std::span<const double> x, std::vector<double>& out) const {
  const auto& p = *parsed_;
  culmen::slacks(outcome, p.goals, out);
  for (const auto& condition : p.conditions) {
    std::vector<double> arguments(x.begin(), x.end());
    for (const auto& name : condition.figures()) arguments.push_back(figure_in(outcome, p.goals, name).value_or(nan));
    condition.slacks(arguments, out);
  }
}

}  // namespace culmen
