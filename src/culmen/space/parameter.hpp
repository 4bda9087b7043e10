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

/// A choice of an ordinal or a categorical parameter. std::monostate stands for `None` of a Python program.
using Choice = std::variant<double, std::string, std::int64_t, bool, std::monostate>;
/// A value of a parameter, as in a study file. std::monostate stands for a choice that is `None`.
using Value = std::variant<bool, std::int64_t, double, std::string, std::monostate>;

/// A parameter: its name and its allowed values. A vector of values contains one double for each parameter:
/// - real, integer: the value itself
/// - ordinal, categorical: the zero-based index of the choice
/// - boolean: 0 or 1
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::real;
  Scale scale = Scale::linear;
  double lower = 0;                 ///< lowest allowed double
  double upper = 1;                 ///< highest allowed double
  std::vector<Choice> choices{};    ///< for ordinal (in this order) and categorical; at least two, all different
  std::optional<double> initial{};  ///< value in a starting point, and in a vector while the parameter is inactive
  std::string active_when{};        ///< a condition on other parameters; empty: always active
  std::optional<double> fixed{};    ///< the only value; the search does not vary it
  bool operator==(const Parameter&) const = default;

  /// Whether the parameter has a finite number of values.
  bool discrete() const { return kind != ParameterKind::real; }
  /// Whether the parameter is categorical or boolean. The values then have no order.
  bool is_choice() const { return kind == ParameterKind::categorical || kind == ParameterKind::boolean; }
  /// Whether the parameter is real and has no condition. It is then always active.
  bool is_plain_real() const { return kind == ParameterKind::real && active_when.empty(); }
  /// The number of values of a discrete parameter.
  double cells() const { return upper - lower + 1; }
};

/// These functions make one parameter each. Both bounds must be finite, with lower < upper. With a logarithmic scale,
/// lower must be above 0. The bounds of an integer must be whole numbers. A real parameter on a linear scale may have
/// infinite bounds if it has an initial value. The search then begins at the initial value. The constructor of Space
/// checks these rules.
Parameter real(std::string name, double lower, double upper, Scale scale = Scale::linear);
Parameter integer(std::string name, double lower, double upper, Scale scale = Scale::linear);
Parameter ordinal(std::string name, std::vector<Choice> choices);
Parameter categorical(std::string name, std::vector<Choice> choices);
Parameter boolean(std::string name);
/// The same parameter, fixed at this value. Optimizers do not vary a fixed parameter, but evaluators receive its value.
/// A fixed parameter may have lower == upper, or a single choice. Throws InputError if the value is not allowed.
Parameter fixed_at(Parameter parameter, const Value& value);

const char* to_string(ParameterKind kind);
const char* to_string(Scale scale);
/// The shortest text from which the same value can be read. Whole numbers have no point; the words are true, false and
/// none.
std::string to_string(const Value& value);
std::string to_string(const Choice& choice);
/// The kind of a choice as a word: number, text, truth or none.
const char* kind_of(const Choice& choice);
/// A number; a truth is 0 or 1. Throws std::bad_variant_access for other choices.
double number_in(const Choice& choice);

/// Throws InputError with the parameter's name and its mistake, except mistakes in its condition.
void check(const Parameter& parameter);
/// The choice of that index; the nearest one if the index is out of range.
const Choice& choice_at(const std::vector<Choice>& choices, double x);
/// From the double in a vector to the parameter's value.
Value value_of(const Parameter& parameter, double x);
/// The reverse. Throws InputError with the parameter, the value and the allowed values.
double number_of(const Parameter& parameter, const Value& value);

}  // namespace culmen
