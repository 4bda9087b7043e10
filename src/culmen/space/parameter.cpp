#include "culmen/space/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/base/null_character.hpp"

namespace culmen {
namespace {
constexpr double largest_integer = 9007199254740992.0;  // 2^53

[[noreturn]] void fail(const Parameter& p, const std::string& why) {
  throw InputError(fmt::format("parameter '{}': {}", p.name, why));
}

constexpr double infinite = std::numeric_limits<double>::infinity();

bool lacks_bounds(const Parameter& p) { return p.lower < p.upper && (p.lower == -infinite || p.upper == infinite); }

void check_without_bounds(const Parameter& p) {
  const char* which = p.lower > -infinite ? "upper" : p.upper < infinite ? "lower" : "lower or upper";
  if (p.kind != ParameterKind::real)
    fail(p, fmt::format("it has no {} bound; only real parameters can do without", which));
  if (p.scale == Scale::log) fail(p, fmt::format("it has no {} bound; a log scale needs both bounds", which));
  if (!p.initial && !p.fixed)
    fail(p, fmt::format("it has no {} bound, so it needs an initial value, at which the search begins", which));
  if (p.initial && !std::isfinite(*p.initial)) fail(p, fmt::format("its initial value {} must be finite", *p.initial));
}

void check_bounds(const Parameter& p) {
  if (lacks_bounds(p)) return check_without_bounds(p);
  if (!std::isfinite(p.lower) || !std::isfinite(p.upper))
    fail(p, fmt::format("bounds [{}, {}] must be finite numbers", p.lower, p.upper));
  const bool in_order = p.fixed ? p.lower <= p.upper : p.lower < p.upper;
  if (!in_order) fail(p, fmt::format("lower bound {} must be below upper bound {}", p.lower, p.upper));
  if (!std::isfinite(p.upper - p.lower))
    fail(p, fmt::format("the range [{}, {}] is too wide for a double", p.lower, p.upper));
  if (p.scale == Scale::log && !(p.lower > 0))
    fail(p, fmt::format("a log scale needs a lower bound above 0, got {}", p.lower));
}

void check_integer(const Parameter& p) {
  if (p.lower != std::floor(p.lower) || p.upper != std::floor(p.upper))
    fail(p, fmt::format("integer bounds must be whole numbers, got [{}, {}]", p.lower, p.upper));
  if (std::abs(p.lower) >= largest_integer || std::abs(p.upper) >= largest_integer)
    fail(p, "integer bounds must lie between -2^53 and 2^53");
}

void check_choices(const Parameter& p) {
  const std::size_t least = p.fixed ? 1 : 2;
  if (p.choices.size() < least)
    fail(p, fmt::format("it needs at least {}, got {}", p.fixed ? "one choice" : "two choices", p.choices.size()));
  if (p.lower != 0 || p.upper != static_cast<double>(p.choices.size() - 1))
    fail(p, fmt::format("{} choices need the bounds [0, {}], got [{}, {}]", p.choices.size(), p.choices.size() - 1,
                        p.lower, p.upper));
  std::set<std::pair<std::string_view, std::string>> known;  // kind and text: 1 and 1.0 are equal, 1 and true are not
  for (const auto& c : p.choices) {
    if (const auto* number = std::get_if<double>(&c); number != nullptr && !std::isfinite(*number))
      fail(p, fmt::format("the choice {} is not a finite number", *number));
    if (!known.emplace(kind_of(c), to_string(c)).second)
      fail(p, fmt::format("the choice {} is given twice", to_string(c)));
    if (const auto* text = std::get_if<std::string>(&c); text != nullptr && has_null(*text))
      fail(p, fmt::format("the choice {:?} contains a null character; remove it", *text));
  }
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, std::monostate>) return "none";
  else return fmt::format("{}", value);
}

bool is_number(const Choice& choice) {
  return std::holds_alternative<double>(choice) || std::holds_alternative<std::int64_t>(choice);
}

bool has_choices(const Parameter& p) {
  return p.kind == ParameterKind::ordinal || p.kind == ParameterKind::categorical;
}

std::string choices_of(const Parameter& p) {
  std::vector<std::string> texts;
  for (const auto& c : p.choices) texts.push_back(to_string(c));
  return fmt::format("{}", fmt::join(texts, ", "));
}

double within_bounds(const Parameter& p, double x) {
  if (p.fixed && p.lower == p.upper && x != p.lower) fail(p, fmt::format("it is fixed at {}, got {}", p.lower, x));
  if (!(x >= p.lower && x <= p.upper)) fail(p, fmt::format("{} is outside [{}, {}]", x, p.lower, p.upper));
  if (p.kind == ParameterKind::integer && x != std::floor(x)) fail(p, fmt::format("{} is not a whole number", x));
  return x;
}

void check_value(const Parameter& p, const std::optional<double>& value, const char* which) {
  if (!value) return;
  if (!(*value >= p.lower && *value <= p.upper))
    fail(p, fmt::format("its {} value {} is outside [{}, {}]", which, *value, p.lower, p.upper));
  if (p.discrete() && *value != std::floor(*value))
    fail(p, fmt::format("its {} value {} is not a whole number", which, *value));
}

std::optional<double> as_number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return {};
}

/// Two whole numbers are compared as such: beyond 2⁵³, some of them are equal as doubles.
bool same(const Choice& a, const Choice& b) {
  if (a.index() == b.index()) return a == b;
  if (is_number(a) && is_number(b)) return number_in(a) == number_in(b);
  return a == b;
}

double choice_index(const Parameter& p, const Value& value) {
  const auto wanted = std::visit([](const auto& v) { return Choice(v); }, value);
  const auto found = std::ranges::find_if(p.choices, [&](const Choice& choice) { return same(choice, wanted); });
  if (found == p.choices.end())
    fail(p, fmt::format("{} is not one of its choices: {}", to_string(value), choices_of(p)));
  return static_cast<double>(found - p.choices.begin());
}

Parameter with_choices(std::string name, ParameterKind kind, std::vector<Choice> choices) {
  Parameter p{std::move(name), kind, Scale::linear, 0, static_cast<double>(choices.size()) - 1};
  p.choices = std::move(choices);
  return p;
}
}  // namespace

Parameter real(std::string name, double lower, double upper, Scale scale) {
  return {std::move(name), ParameterKind::real, scale, lower, upper};
}
Parameter integer(std::string name, double lower, double upper, Scale scale) {
  return {std::move(name), ParameterKind::integer, scale, lower, upper};
}
Parameter ordinal(std::string name, std::vector<Choice> choices) {
  return with_choices(std::move(name), ParameterKind::ordinal, std::move(choices));
}
Parameter categorical(std::string name, std::vector<Choice> choices) {
  return with_choices(std::move(name), ParameterKind::categorical, std::move(choices));
}
Parameter boolean(std::string name) { return {std::move(name), ParameterKind::boolean, Scale::linear, 0, 1}; }
Parameter fixed_at(Parameter parameter, const Value& value) {
  parameter.fixed = parameter.lower;
  check(parameter);  // before its value
  parameter.fixed = number_of(parameter, value);
  return parameter;
}

const char* to_string(ParameterKind kind) {
  constexpr const char* words[] = {"real", "integer", "ordinal", "categorical", "boolean"};
  return words[static_cast<std::size_t>(kind)];
}
const char* to_string(Scale scale) { return scale == Scale::log ? "log" : "linear"; }

std::string to_string(const Value& value) {
  return std::visit([](const auto& v) { return text_of(v); }, value);
}
std::string to_string(const Choice& choice) {
  return std::visit([](const auto& c) { return text_of(c); }, choice);
}

const char* kind_of(const Choice& choice) {
  constexpr const char* words[] = {"number", "text", "number", "truth", "none"};
  return words[choice.index()];
}

double number_in(const Choice& choice) {
  if (const auto* whole = std::get_if<std::int64_t>(&choice)) return static_cast<double>(*whole);
  if (const auto* truth = std::get_if<bool>(&choice)) return *truth ? 1 : 0;
  return std::get<double>(choice);
}

void check(const Parameter& p) {
  if (p.name.empty()) throw InputError("a parameter has an empty name; give each its own name");
  check_for_null("parameter", p.name);
  if (has_choices(p)) check_choices(p);
  check_bounds(p);
  if (p.kind == ParameterKind::integer) check_integer(p);
  if (p.kind != ParameterKind::real && p.kind != ParameterKind::integer && p.scale == Scale::log)
    fail(p, fmt::format("scale = \"log\" works for real and integer parameters, not for {} ones", to_string(p.kind)));
  check_value(p, p.initial, "initial");
  check_value(p, p.fixed, "fixed");
}

const Choice& choice_at(const std::vector<Choice>& choices, double x) {
  return choices[x > 0 ? static_cast<std::size_t>(std::min(x, static_cast<double>(choices.size() - 1))) : 0];
}

Value value_of(const Parameter& p, double x) {
  if (p.kind == ParameterKind::real) return x;
  if (p.kind == ParameterKind::integer) return static_cast<std::int64_t>(x);
  if (p.kind == ParameterKind::boolean) return x != 0;
  return std::visit([](const auto& choice) { return Value(choice); }, choice_at(p.choices, x));
}

double number_of(const Parameter& p, const Value& value) {
  if (has_choices(p)) return choice_index(p, value);
  if (p.kind == ParameterKind::boolean) {
    if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
    if (const auto x = as_number(value); x == 0.0 || x == 1.0) return *x;
    fail(p, fmt::format("it must be true or false, got {}", to_string(value)));
  }
  const auto x = as_number(value);
  if (!x) {
    const auto* quote = std::holds_alternative<std::string>(value) ? "\"" : "";
    fail(p, fmt::format("it must be a number, got {}{}{}", quote, to_string(value), quote));
  }
  return within_bounds(p, *x);
}

}  // namespace culmen
