// A parameter's value as a text in a format.
#pragma once
#include <string>

#include "culmen/space/parameter.hpp"

namespace culmen {

/// A format for values, as in Python and fmt, for example `.6e`, `12.4f`, `05d`, `>8`. Empty: as to_string(Value)
/// writes it.
class ValueFormat {
 public:
  /// Throws InputError with one sentence that names the parameter, if the format is invalid for a value of the
  /// parameter.
  ValueFormat(const Parameter& parameter, const std::string& format);
  std::string operator()(const Parameter& parameter, double x) const;

 private:
  std::string replacement_;  // "{:.6e}"; empty: to_string
};

}  // namespace culmen
