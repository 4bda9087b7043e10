#include "culmen/space/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"
#include "culmen/space/expression.hpp"
#include "culmen/space/scaling.hpp"

namespace culmen {
namespace {
constexpr double at_bound_share = 1e-6;

struct Condition {
  std::size_t parameter;
  Expression expression;
};

Expression parsed(const std::string& text, const std::string& whose, std::span<const Parameter> parameters) {
  try {
    return Expression(text, parameters);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", whose, e.what()));
  }
}

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

double resting(const Parameter& p) { return p.initial ? *p.initial : from_unit(p, 0.5); }
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
        {i, parsed(p.active_when, fmt::format("parameter '{}', its condition", p.name), parameters_)});
  }
  rules.conditions = in_order(std::move(rules.conditions), parameters_);
  for (const auto& c : constraints_)
    rules.constraints.push_back(parsed(c.expression, fmt::format("constraint '{}'", c.name), parameters_));
  if (!rules.conditions.empty() || !rules.constraints.empty()) rules_ = std::make_shared<const Rules>(std::move(rules));
}

bool Space::conditional() const { return rules_ != nullptr && !rules_->conditions.empty(); }

std::size_t Space::index_of(std::string_view name) const {
  std::vector<std::string> known;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == name) return i;
    known.push_back(parameters_[i].name);
  }
  throw InputError(fmt::format("there is no parameter '{}'{}", name, near_or_all(std::string(name), known)));
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
  if (conditional()) rules_->activity(vector, active);
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
  const auto active = activity(vector);
  double sum = 0;
  for (const auto& c : rules_->constraints) {
    const bool applies = std::ranges::all_of(c.names(), [&](std::size_t i) { return active[i] != 0; });
    if (applies) sum += c.violation(vector);
  }
  return sum;
}

void Space::slacks(std::span<const double> vector, std::vector<double>& out) const {
  if (constraints_.empty()) return;
  for (const auto& c : rules_->constraints) c.slacks(vector, out);
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
  const auto active = activity(vector);
  std::vector<Named> out;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (active[i] != 0) out.emplace_back(parameters_[i].name, value_of(parameters_[i], vector[i]));
  return out;
}

std::vector<double> Space::vector_of(std::span<const Named> values) const {
  auto out = start();
  std::vector<char> given(parameters_.size());
  for (const auto& [name, value] : values) {
    const auto i = index_of(name);
    if (given[i]++ != 0) throw InputError(fmt::format("parameter '{}' is given twice", name));
    out[i] = number_of(parameters_[i], value);
  }
  const auto active = activity(out);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& p = parameters_[i];
    if (active[i] != 0 && given[i] == 0) throw InputError(fmt::format("parameter '{}' is missing", p.name));
    if (active[i] == 0 && given[i] != 0)
      throw InputError(
          fmt::format("parameter '{}' is given, but it is inactive: \"{}\" does not hold", p.name, p.active_when));
  }
  return out;
}

bool Space::at_bound(std::size_t i, double value) const {
  const auto& p = parameters_[i];
  if (p.kind == ParameterKind::categorical || p.kind == ParameterKind::boolean) return false;
  if (p.discrete()) return value == p.lower || value == p.upper;
  const double u = culmen::to_unit(p, value);
  return u <= at_bound_share || u >= 1 - at_bound_share;
}

namespace {
void encode_parameter(const Parameter& p, ByteWriter& out) {
  out.text(p.name);
  out.u8(static_cast<std::uint8_t>(p.kind));
  out.u8(static_cast<std::uint8_t>(p.scale));
  out.f64(p.lower);
  out.f64(p.upper);
  out.u32(static_cast<std::uint32_t>(p.choices.size()));
  for (const auto& choice : p.choices) {
    const auto* text = std::get_if<std::string>(&choice);
    out.u8(text != nullptr ? 1 : 0);
    if (text != nullptr) out.text(*text);
    else out.f64(std::get<double>(choice));
  }
  out.u8(p.initial ? 1 : 0);
  out.f64(p.initial.value_or(0));
  out.text(p.active_when);
}

Parameter decode_parameter(ByteReader& in) {
  Parameter p;
  p.name = in.text();
  p.kind = in.member(ParameterKind::boolean, "parameter kind");
  p.scale = in.member(Scale::log, "scale");
  p.lower = in.f64();
  p.upper = in.f64();
  for (auto k = in.u32(); k > 0; --k) {
    if (in.u8() != 0) p.choices.emplace_back(in.text());
    else p.choices.emplace_back(in.f64());
  }
  const bool has_initial = in.u8() != 0;
  const double initial = in.f64();
  if (has_initial) p.initial = initial;
  p.active_when = in.text();
  return p;
}
}  // namespace

void Space::encode(ByteWriter& out) const {
  out.u64(parameters_.size());
  for (const auto& p : parameters_) encode_parameter(p, out);
  out.u64(constraints_.size());
  for (const auto& c : constraints_) {
    out.text(c.name);
    out.text(c.expression);
  }
}

Space Space::decode(ByteReader& in) {
  std::vector<Parameter> parameters;
  for (auto n = in.u64(); n > 0; --n) parameters.push_back(decode_parameter(in));
  std::vector<Constraint> constraints;
  for (auto m = in.u64(); m > 0; --m) {
    auto name = in.text();
    constraints.push_back({std::move(name), in.text()});
  }
  if (parameters.empty()) return {};  // of an Executor's items
  return Space(std::move(parameters), std::move(constraints));
}

}  // namespace culmen
