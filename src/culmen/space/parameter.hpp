// One named parameter.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace culmen {

enum class ParameterKind : unsigned char { real = 0, integer = 1, ordinal = 2, categorical = 3, boolean = 4 };
enum class Scale : unsigned char { linear = 0, log = 1 };

/// A choice of an ordinal or a categorical parameter.
using Choice = std::variant<double, std::string>;
/// A parameter's value, as people and evaluators see it.
using Value = std::variant<bool, std::int64_t, double, std::string>;

/// A parameter's name and allowed values. In a vector it is one double: a real or an integer itself, the zero-based
/// index of the choice for an ordinal or a categorical parameter, 0 or 1 for a boolean.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::real;
  Scale scale = Scale::linear;
  double lower = 0;  ///< bounds of that double, inclusive, in the parameter's own unit
  double upper = 1;
  std::vector<Choice> choices{};    ///< ordinal (in their order), categorical; at least two, all different
  std::optional<double> initial{};  ///< that double at the start of the search, and while the parameter is inactive
  std::string active_when{};        ///< an expression over the other parameters; empty: always
  bool operator==(const Parameter&) const = default;

  /// Whether it has only finitely many values.
  bool discrete() const { return kind != ParameterKind::real; }
  /// Categorical or boolean: its values have no order.
  bool is_choice() const { return kind == ParameterKind::categorical || kind == ParameterKind::boolean; }
  /// Real, and active whatever the values of the others are.
  bool is_plain_real() const { return kind == ParameterKind::real && active_when.empty(); }
  /// The number of values of a discrete parameter.
  double cells() const { return upper - lower + 1; }
};

/// lower < upper, both finite. log: 0 < lower (real), 1 <= lower (integer). Integers: both are whole and below 2^53 in
/// size. Space's constructor checks.
Parameter real(std::string name, double lower, double upper, Scale scale = Scale::linear);
Parameter integer(std::string name, double lower, double upper, Scale scale = Scale::linear);
Parameter ordinal(std::string name, std::vector<Choice> choices);
Parameter categorical(std::string name, std::vector<Choice> choices);
Parameter boolean(std::string name);

const char* to_string(ParameterKind kind);
const char* to_string(Scale scale);
/// The shortest text that reads back equal; whole numbers without a point.
std::string to_string(const Value& value);
std::string to_string(const Choice& choice);

/// Throws InputError with the parameter's name and its mistake, except mistakes in its condition.
void check(const Parameter& parameter);
/// The choice of that index; the nearest one if the index is out of range.
const Choice& choice_at(const std::vector<Choice>& choices, double x);
/// From the double in a vector to the parameter's value.
Value value_of(const Parameter& parameter, double x);
/// The reverse. Throws InputError with the parameter, the value and the allowed values.
double number_of(const Parameter& parameter, const Value& value);

}  // namespace culmen
