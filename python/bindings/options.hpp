// Options of an optimizer, between Python and C++.
#pragma once
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <map>
#include <string>
#include <variant>

#include "culmen/optimizer/core/options.hpp"

namespace culmen::bindings {

using PythonOption = std::variant<bool, double, std::string>;
using PythonOptions = std::map<std::string, PythonOption>;

inline PythonOption to_python(const OptionValue& value) {
  const auto as_is = [](const auto& v) { return PythonOption(v); };
  return std::visit(as_is, static_cast<const std::variant<double, std::string, bool>&>(value));
}

inline PythonOptions to_python(const OptimizerOptions& options) {
  PythonOptions out;
  for (const auto& [name, value] : options) out.emplace(name, to_python(value));
  return out;
}

inline OptimizerOptions from_python(const PythonOptions& options) {
  OptimizerOptions out;
  for (const auto& [name, value] : options)
    std::visit([&, &key = name](const auto& v) { out.emplace(key, OptionValue(v)); }, value);
  return out;
}

}  // namespace culmen::bindings
