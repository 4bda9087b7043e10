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

/// A choice of an ordinal or a categorical parameter. std::monostate: `None` of a Python program.
using Choice = std::variant<double, std::string, std::int64_t, bool, std::monostate>;
/// A value of a parameter, as in a study file. std::monostate: a choice that is `None`.
using Value = std::variant<bool, std::int64_t, double, std::string, std::monostate>;

/// A parameter: its name and its allowed values. In a vector each parameter is one double:
/// - real, integer: the value itself
/// - ordinal, categorical: the zero-based index of the choice
/// - boolean: 0 or 1
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::real;
  Scale scale = Scale::linear;
  double lower = 0;                 ///< least allowed double
  double upper = 1;                 ///< greatest allowed double
  std::vector<Choice> choices{};    ///< for ordinal (in this order) and categorical; at least two, all different
  std::optional<double> initial{};  ///< value in a starting point; also the value if inactive
  std::string active_when{};        ///< a condition on other parameters; empty: always active
  std::optional<double> fixed{};    ///< its only value; the search then leaves it out
  bool operator==(const Parameter&) const = default;

  /// Whether it has only finitely many values.
  bool discrete() const { return kind != ParameterKind::real; }
  /// Categorical or boolean: its values have no order.
  bool is_choice() const { return kind == ParameterKind::categorical || kind == ParameterKind::boolean; }
  /// Real and without a condition, thus always active.
  bool is_plain_real() const { return kind == ParameterKind::real && active_when.empty(); }
  /// The number of values of a discrete parameter.
  double cells() const { return upper - lower + 1; }
};

/// Both bounds are finite, and lower < upper. A logarithmic scale needs 0 < lower. For an integer, both bounds are
/// whole numbers, and a logarithmic scale needs 1 <= lower. A real parameter on a linear scale may have infinite bounds
/// if it has an initial value, at which the search begins. The constructor of Space checks this.
Parameter real(std::string name, double lower, double upper, Scale scale = Scale::linear);
Parameter integer(std::string name, double lower, double upper, Scale scale = Scale::linear);
Parameter ordinal(std::string name, std::vector<Choice> choices);
Parameter categorical(std::string name, std::vector<Choice> choices);
Parameter boolean(std::string name);
/// The parameter, fixed at this value: optimizers do not vary it, evaluators receive it. Throws InputError.
/// A fixed parameter may have lower == upper, or a single choice.
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
