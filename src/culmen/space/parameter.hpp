// One named parameter.
#pragma once
#include <string>
#include <variant>

namespace culmen {

enum class ParameterKind : unsigned char { real = 0, integer = 1 };  // categorical, ordinal and boolean follow
enum class Scale : unsigned char { linear = 0, log = 1 };

/// A parameter's name and its box. Bounds are inclusive, in the parameter's own unit.
struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::real;
  Scale scale = Scale::linear;
  double lower = 0;
  double upper = 1;
  bool operator==(const Parameter&) const = default;
};

/// lower < upper, both finite. log: 0 < lower. Integers: both are whole and below 2^53 in size, linear only. Space's
/// constructor checks.
Parameter real(std::string name, double lower, double upper, Scale scale = Scale::linear);
Parameter integer(std::string name, double lower, double upper);

}  // namespace culmen
