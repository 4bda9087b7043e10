// A parameter's value as a text in a format.
#pragma once
#include <string>

#include "culmen/space/parameter.hpp"

namespace culmen {

/// How a value is to be written: a format of Python's and fmt's, such as `.6e`, `12.4f`, `05d`, `>8`; empty: as by
/// to_string(Value).
class ValueFormat {
 public:
  /// Throws InputError with one sentence that names the parameter: a format that is none, or none of a value that it
  /// may be.
  ValueFormat(const Parameter& parameter, const std::string& format);
  std::string operator()(const Parameter& parameter, double x) const;

 private:
  std::string replacement_;  // "{:.6e}"; empty: to_string
};

}  // namespace culmen
