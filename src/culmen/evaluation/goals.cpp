#include "culmen/evaluation/goals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"
#include "culmen/base/null_character.hpp"

namespace culmen {
namespace {

constexpr std::size_t most_names = 12;  // in a message
constexpr const char* objectives_table = "[objectives]";

double oriented(double value, Direction direction) { return direction == Direction::maximize ? -value : value; }

bool take_objectives(Outcome& outcome, const std::vector<Objective>& objectives) {
  for (const auto& o : objectives) {
    const auto figure = outcome.extra(o.name);
    if (!figure) return fail_for_lack(outcome, o.name, objectives_table), false;
    outcome.values.push_back(oriented(*figure, o.direction));
  }
  auto& extras = outcome.extras;
  for (const auto& o : objectives)
    extras.erase(std::ranges::find(extras, o.name, &std::pair<std::string, double>::first));
  outcome.value = outcome.values[0];
  if (objectives.size() == 1) outcome.values.clear();
  return true;
}

void check_name(const std::string& name, const char* what, std::set<std::string_view>& names) {
  if (name.empty()) throw InputError(fmt::format("{} has an empty name", what));
  check_for_null(what, name);
  if (!names.insert(name).second) throw InputError(fmt::format("{} '{}' is given twice", what, name));
}

void encode(const std::vector<NamedExpression>& expressions, ByteWriter& out) {
  out.u32(static_cast<std::uint32_t>(expressions.size()));
  for (const auto& e : expressions) encode(e, out);
}

std::vector<NamedExpression> decode_expressions(ByteReader& in) {
  std::vector<NamedExpression> out;
  for (auto n = in.u32(); n > 0; --n) out.push_back(decode_named_expression(in));
  return out;
}

std::string how_to_return(const std::string& name, bool is_objective) {
  const auto dict = fmt::format("{{\"{}\": …}}", name);
  return fmt::format("a Python function returns {}, a program prints a line {} = …",
                     is_objective ? dict : fmt::format("(VALUE, {})", dict), name);
}
}  // namespace

void fail_for_lack(Outcome& outcome, const std::string& name, const std::string& who,
                   const std::vector<Objective>& objectives, const std::vector<std::string>& parameters) {
  std::vector<std::string> known;
  for (const auto& o : objectives) known.push_back(o.name);
  for (const auto& [figure, value] : outcome.extras) known.push_back(figure);
  auto all = known;
  all.insert(all.end(), parameters.begin(), parameters.end());
  const auto near = near_word(name, all);
  const auto more = known.size() > most_names ? fmt::format(" and {} more", known.size() - most_names) : "";
  known.resize(std::min(known.size(), most_names));
  const auto has = known.empty() ? "it has no named values; " + how_to_return(name, who == objectives_table)
                                 : fmt::format("it has {}{}", fmt::join(known, ", "), more);
  outcome = Outcome::failure(Status::wrong_shape,
                             fmt::format("the outcome has no value '{}', which {} needs; {}{}", name, who, has,
                                         near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

std::optional<double> figure_in(const Outcome& outcome, const Goals& goals, const std::string& name) {
  for (std::size_t k = 0; k < goals.objectives.size(); ++k) {
    if (goals.objectives[k].name != name) continue;
    if (goals.several() && k >= outcome.values.size()) return {};
    return goals.as_given(k, goals.several() ? outcome.values[k] : outcome.value);
  }
  if (const auto extra = outcome.extra(name)) return extra;
  return name == "value" ? std::optional(outcome.value) : std::nullopt;
}

bool Goals::is_derived(const std::string& name) const {
  return std::ranges::find(derived, name, &NamedExpression::name) != derived.end();
}

void Goals::check() const {
  std::set<std::string_view> objective_names, limit_names, derived_names;
  for (const auto& o : objectives) check_name(o.name, "objective", objective_names);
  for (const auto& l : limits) {
    check_name(l.name, "limit", limit_names);
    if (std::isinf(l.lower) && std::isinf(l.upper))
      throw InputError(fmt::format("limit '{}' has neither lower nor upper; give at least one", l.name));
    if (!(l.lower <= l.upper))
      throw InputError(fmt::format("limit '{}': lower {} must not be above upper {}", l.name, l.lower, l.upper));
  }
  for (const auto& d : derived) check_name(d.name, "derived value", derived_names);
  for (const auto& c : conditions) check_name(c.name, "limit", limit_names);
  if (!residuals.empty() && !objectives.empty())
    throw InputError(
        "residuals allow no objectives, because the sum of their squares is minimized; remove one of the two");
  loss.check();
}

double Goals::value_of(const Outcome& outcome) const {
  return loss.linear() || outcome.residuals.empty() ? outcome.value : loss.value(outcome.residuals);
}

double Goals::as_given(std::size_t objective, double value) const {
  return objective < objectives.size() ? oriented(value, objectives[objective].direction) : value;
}

void judge(Outcome& outcome, const Goals& goals, bool figures) {
  if (!outcome.ok()) return;
  if (figures && !take_objectives(outcome, goals.objectives)) return;
  outcome.value = goals.value_of(outcome);
  if (!figures) outcome.value = goals.as_given(0, outcome.value);
  for (const auto& l : goals.limits) {
    const auto figure = figure_in(outcome, goals, l.name);
    if (!figure) return fail_for_lack(outcome, l.name, "[limits]", goals.objectives);
    outcome.violation += std::max({0.0, l.lower - *figure, *figure - l.upper});
    if (std::isnan(*figure)) outcome.violation = *figure;  // check_finite() reports it
  }
  outcome.check_finite();
}

void slacks(const Outcome& outcome, const Goals& goals, std::vector<double>& out) {
  for (const auto& l : goals.limits) {
    const double figure = figure_in(outcome, goals, l.name).value_or(std::numeric_limits<double>::quiet_NaN());
    if (!std::isinf(l.lower)) out.push_back(l.lower - figure);
    if (!std::isinf(l.upper)) out.push_back(figure - l.upper);
  }
}

void encode(const Goals& goals, ByteWriter& out) {
  out.u32(static_cast<std::uint32_t>(goals.objectives.size()));
  for (const auto& o : goals.objectives) {
    out.text(o.name);
    out.u8(static_cast<std::uint8_t>(o.direction));
  }
  out.u32(static_cast<std::uint32_t>(goals.limits.size()));
  for (const auto& l : goals.limits) {
    out.text(l.name);
    out.f64(l.lower);
    out.f64(l.upper);
  }
  encode(goals.loss, out);
  encode(goals.derived, out);
  encode(goals.conditions, out);
  out.u32(static_cast<std::uint32_t>(goals.residuals.size()));
  for (const auto& name : goals.residuals) out.text(name);
}

Goals decode_goals(ByteReader& in) {
  Goals goals;
  for (auto n = in.u32(); n > 0; --n) {
    auto name = in.text();
    goals.objectives.push_back({std::move(name), in.member(Direction::maximize, "direction")});
  }
  for (auto m = in.u32(); m > 0; --m) {
    Limit l;
    l.name = in.text();
    l.lower = in.f64();
    l.upper = in.f64();
    goals.limits.push_back(std::move(l));
  }
  goals.loss = decode_loss(in);
  goals.derived = decode_expressions(in);
  goals.conditions = decode_expressions(in);
  for (auto n = in.u32(); n > 0; --n) goals.residuals.push_back(in.text());
  return goals;
}

}  // namespace culmen
