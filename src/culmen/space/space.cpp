#include "culmen/space/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"
#include "culmen/base/null_character.hpp"
#include "culmen/space/expression.hpp"
#include "culmen/space/scaling.hpp"

namespace culmen {
namespace {
constexpr double at_bound_share = 1e-6;

struct Condition {
  std::size_t parameter;
  Expression expression;
};

/// The conditions in an order such that each comes after those that it depends on.
std::vector<Condition> in_order(std::vector<Condition> conditions, std::span<const Parameter> parameters) {
  std::vector<Condition> out;
  std::vector<char> settled(parameters.size(), 1);
  for (const auto& c : conditions) settled[c.parameter] = 0;
  while (!conditions.empty()) {
    const auto next = std::ranges::find_if(conditions, [&](const Condition& c) {
      return std::ranges::all_of(c.expression.names(), [&](std::size_t i) { return settled[i] != 0; });
    });
    if (next == conditions.end())
      throw InputError(fmt::format("parameter '{}': its condition \"{}\" depends on the parameter itself",
                                   parameters[conditions[0].parameter].name, conditions[0].expression.text()));
    settled[next->parameter] = 1;
    out.push_back(std::move(*next));
    conditions.erase(next);
  }
  return out;
}

std::size_t find(const std::vector<Parameter>& parameters, std::string_view name) {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return i;
    known.push_back(parameters[i].name);
  }
  throw InputError(fmt::format("there is no parameter '{}'{}", name, near_or_all(std::string(name), known)));
}

double resting(const Parameter& p) { return p.fixed ? *p.fixed : p.initial ? *p.initial : from_unit(p, 0.5); }
}  // namespace

struct Space::Rules {
  std::vector<Condition> conditions;  // in an order in which they can be evaluated
  std::vector<Expression> constraints;

  void activity(std::span<const double> vector, std::vector<char>& active) const {
    for (const auto& c : conditions) {
      const auto& names = c.expression.names();
      active[c.parameter] =
          std::ranges::all_of(names, [&](std::size_t i) { return active[i] != 0; }) && c.expression.holds(vector);
    }
  }
};

Space::Space(std::vector<Parameter> parameters, std::vector<Constraint> constraints)
    : parameters_(std::move(parameters)), constraints_(std::move(constraints)) {
  if (parameters_.empty()) throw InputError("the space has no parameter; give at least one");
  std::set<std::string_view> names;
  for (const auto& p : parameters_) {
    check(p);
    if (!names.insert(p.name).second)
      throw InputError(fmt::format("there are two parameters '{}'; give each its own name", p.name));
  }
  Rules rules;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& p = parameters_[i];
    if (p.active_when.empty()) continue;
    rules.conditions.push_back(
        {i, parsed(fmt::format("parameter '{}', its condition", p.name), p.active_when, parameters_)});
  }
  rules.conditions = in_order(std::move(rules.conditions), parameters_);
  for (const auto& c : constraints_) {
    check_for_null("constraint", c.name);
    rules.constraints.push_back(parsed(fmt::format("constraint '{}'", c.name), c.expression, parameters_));
  }
  if (!rules.conditions.empty() || !rules.constraints.empty()) rules_ = std::make_shared<const Rules>(std::move(rules));
  if (std::ranges::any_of(parameters_, [](const Parameter& p) { return p.fixed.has_value(); })) leave_out_fixed();
}

bool Space::conditional() const {
  return fixed_ ? fixed_->conditional : rules_ != nullptr && !rules_->conditions.empty();
}

void Space::from_unit(std::span<const double> unit, std::span<double> vector) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) vector[i] = culmen::from_unit(parameters_[i], unit[i]);
  rest_inactive(vector);
}

void Space::to_unit(std::span<const double> vector, std::span<double> unit) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) unit[i] = culmen::to_unit(parameters_[i], vector[i]);
}

std::vector<char> Space::activity(std::span<const double> vector) const {
  std::vector<char> active(parameters_.size(), 1);
  if (!conditional()) return active;
  std::vector<double> room;
  const auto of_all = activity_of_all(with_fixed(vector, room));
  for (std::size_t i = 0; i < active.size(); ++i) active[i] = of_all[place(i)];
  return active;
}

void Space::put_inactive(std::span<double> vector, double value) const {
  if (!conditional()) return;
  const auto active = activity(vector);
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i] == 0) vector[i] = value;
}

/// An inactive parameter decides nothing, so this changes no other parameter's activity.
void Space::rest_inactive(std::span<double> vector) const {
  if (!conditional()) return;
  const auto active = activity(vector);
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i] == 0) vector[i] = resting(parameters_[i]);
}

double Space::violation(std::span<const double> vector) const {
  if (constraints_.empty()) return 0;
  std::vector<double> room;
  const auto whole = with_fixed(vector, room);
  const auto active = activity_of_all(whole);
  double sum = 0;
  for (const auto& c : rules_->constraints) {
    const bool applies = std::ranges::all_of(c.names(), [&](std::size_t i) { return active[i] != 0; });
    if (applies) sum += c.violation(whole);
  }
  return sum;
}

void Space::slacks(std::span<const double> vector, std::vector<double>& out) const {
  if (constraints_.empty()) return;
  std::vector<double> room;
  const auto whole = with_fixed(vector, room);
  for (const auto& c : rules_->constraints) c.slacks(whole, out);
}

std::vector<double> Space::start() const {
  std::vector<double> out;
  for (const auto& p : parameters_) out.push_back(resting(p));
  return out;
}

bool Space::has_start() const {
  return std::ranges::any_of(parameters_, [](const Parameter& p) { return p.initial.has_value(); });
}

std::vector<Space::Named> Space::named(std::span<const double> vector) const {
  std::vector<double> room;
  const auto whole = with_fixed(vector, room);
  const auto active = activity_of_all(whole);
  std::vector<Named> out;
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i] != 0) out.emplace_back(all()[i].name, value_of(all()[i], whole[i]));
  return out;
}

std::vector<double> Space::vector_of(std::span<const Named> values) const {
  const auto& parameters = all();
  auto out = spread(start());
  std::vector<char> given(parameters.size());
  for (const auto& [name, value] : values) {
    const auto i = find(parameters, name);
    if (given[i]++ != 0) throw InputError(fmt::format("parameter '{}' is given twice", name));
    out[i] = number_of(parameters[i], value);
  }
  const auto active = activity_of_all(out);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& p = parameters[i];
    if (active[i] != 0 && given[i] == 0 && !p.fixed) throw InputError(fmt::format("parameter '{}' is missing", p.name));
    if (active[i] == 0 && given[i] != 0)
      throw InputError(
          fmt::format("parameter '{}' is given, but it is inactive: \"{}\" does not hold", p.name, p.active_when));
  }
  return searched(out);
}

bool Space::at_bound(std::size_t i, double value) const {
  const auto& p = parameters_[i];
  if (p.kind == ParameterKind::categorical || p.kind == ParameterKind::boolean) return false;
  if (p.discrete()) return value == p.lower || value == p.upper;
  const double u = culmen::to_unit(p, value);
  return (u <= at_bound_share && std::isfinite(p.lower)) || (u >= 1 - at_bound_share && std::isfinite(p.upper));
}

/// Finds which parameters fixed ones decide: such a parameter is always active, or never and then left out.
void Space::leave_out_fixed() {
  Fixed fixed{parameters_, {}, {}, false};
  for (const auto& p : parameters_) fixed.values.push_back(resting(p));
  std::vector<char> decided(parameters_.size(), 1), active = activity_of_all(fixed.values);
  const auto is_known = [&](std::size_t i) { return decided[i] != 0 && (active[i] == 0 || fixed.all[i].fixed); };
  const auto is_out = [&](std::size_t i) { return decided[i] != 0 && active[i] == 0; };
  if (rules_) {
    for (const auto& c : rules_->conditions) {
      const auto& names = c.expression.names();
      const bool known = std::ranges::all_of(names, is_known) || std::ranges::any_of(names, is_out);
      decided[c.parameter] = known ? 1 : 0;
      fixed.conditional |= !known;
    }
    for (const auto& c : rules_->constraints) {
      const bool known = std::ranges::all_of(c.names(), is_known) && std::ranges::none_of(c.names(), is_out);
      if (known && !c.names().empty() && !c.holds(fixed.values))
        throw InputError(
            fmt::format("the fixed parameters violate the constraint \"{}\"; change their values, or the "
                        "constraint",
                        c.text()));
    }
  }
  parameters_.clear();
  for (std::size_t i = 0; i < fixed.all.size(); ++i) {
    if (fixed.all[i].fixed || is_out(i)) continue;
    fixed.places.push_back(i);
    auto& p = parameters_.emplace_back(fixed.all[i]);
    if (decided[i] != 0) p.active_when.clear();
  }
  if (parameters_.empty())
    throw InputError("no parameter can vary: all are fixed, or inactive because of fixed ones; free at least one");
  fixed_ = std::make_shared<const Fixed>(std::move(fixed));
}

std::span<const double> Space::with_fixed(std::span<const double> vector, std::vector<double>& room) const {
  if (!fixed_) return vector;
  room = fixed_->values;
  for (std::size_t i = 0; i < vector.size(); ++i) room[fixed_->places[i]] = vector[i];
  return room;
}

std::vector<char> Space::activity_of_all(std::span<const double> whole) const {
  std::vector<char> active(whole.size(), 1);
  if (rules_) rules_->activity(whole, active);
  return active;
}

Space Space::whole() const {
  Space out = *this;
  out.parameters_ = all();
  out.fixed_ = nullptr;
  return out;
}

std::vector<double> Space::spread(std::span<const double> vector) const {
  std::vector<double> room;
  const auto values = with_fixed(vector, room);
  return {values.begin(), values.end()};
}

std::vector<double> Space::searched(std::span<const double> whole) const {
  if (whole.size() != all().size())
    throw InputError(fmt::format("got {} values, but the space has {} parameters", whole.size(), all().size()));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (const auto& p = all()[i]; p.fixed && whole[i] != *p.fixed && !std::isnan(whole[i]))
      throw InputError(fmt::format("parameter '{}': it is fixed at {}, got {}", p.name,
                                   to_string(value_of(p, *p.fixed)), to_string(value_of(p, whole[i]))));
  }
  std::vector<double> out;
  for (std::size_t i = 0; i < parameters_.size(); ++i) out.push_back(whole[place(i)]);
  return out;
}

}  // namespace culmen
