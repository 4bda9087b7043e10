#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bindings.hpp"
#include "culmen/space/space.hpp"
#include "names.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

const std::vector<double>& sized(const Space& space, const std::vector<double>& vector) {
  if (vector.size() == space.size()) return vector;
  throw InputError("got a vector of " + std::to_string(vector.size()) + " values, but the space has " +
                   std::to_string(space.size()) + " parameters");
}

Space make_space(std::vector<Parameter> parameters, const Expressions& constraints) {
  return Space(std::move(parameters), named_of(constraints));
}

std::vector<bool> flags(const std::vector<char>& active) { return {active.begin(), active.end()}; }

std::vector<Value> choices_of(const Parameter& p) {
  std::vector<Value> out;
  for (std::size_t i = 0; i < p.choices.size(); ++i) out.push_back(value_of(p, static_cast<double>(i)));
  return out;
}

using Number = std::optional<double> Parameter::*;

std::optional<Value> value_in(const Parameter& p, Number member) {
  return p.*member ? std::optional(value_of(p, *(p.*member))) : std::nullopt;
}

/// The parameter itself is checked before its value, whose InputError names the key.
void set_value(Parameter& p, Number member, const std::optional<Value>& value, const char* key) {
  (p.*member).reset();
  if (!value) return;
  p.*member = std::isfinite(p.lower) ? p.lower : std::isfinite(p.upper) ? p.upper : 0;
  check(p);
  try {
    p.*member = number_of(p, *value);
  } catch (const InputError& e) {
    const std::string why = e.what(), name = "parameter '" + p.name + "': ";
    if (!why.starts_with(name)) throw;
    const auto rest = why.substr(name.size());
    throw InputError(name + key + (rest.starts_with("it ") ? ": " : " = ") + rest);
  }
}

nb::typed<nb::dict, nb::str, Value> named(const Space& space, const std::vector<double>& vector) {
  sized(space, vector);
  nb::dict out;
  for (const auto& [name, value] : space.named(vector)) out[name.c_str()] = value;
  return out;
}

std::vector<double> vector_of(const Space& space, const nb::typed<nb::dict, nb::str, Value>& values) {
  std::vector<Space::Named> list;
  for (auto [key, value] : values) {
    const auto name = nb::cast<std::string>(nb::str(key));
    try {
      list.emplace_back(name, nb::cast<Value>(value));
    } catch (const nb::cast_error&) {
      throw InputError("parameter '" + name + "': it must be a number, a string, true or false, got " +
                       nb::cast<std::string>(nb::repr(value)));
    }
  }
  return space.vector_of(list);
}

}  // namespace

Expressions pairs_of(const std::vector<NamedExpression>& named) {
  Expressions out;
  for (const auto& [name, expression] : named) out.emplace_back(name, expression);
  return out;
}

std::vector<NamedExpression> named_of(const Expressions& pairs) {
  std::vector<NamedExpression> out;
  for (const auto& [name, expression] : pairs) out.push_back({name, expression});
  return out;
}

void bind_space(nb::module_& m) {
  const nb::sig equality("def __eq__(self, arg: object, /) -> bool");
  nb::class_<Parameter>(m, "Parameter")
      .def_ro("name", &Parameter::name)
      .def_prop_ro("kind", getter(&Parameter::kind), one_of<ParameterKind>().c_str())
      .def_prop_ro("scale", getter(&Parameter::scale), one_of<Scale>().c_str())
      .def_ro("lower", &Parameter::lower, "The lower bound; with choices the lowest index, 0.")
      .def_ro("upper", &Parameter::upper, "The upper bound; with choices the highest index.")
      .def_prop_ro("choices", [](const Parameter& p) { return choices_of(p); })
      .def_prop_rw(
          "initial", [](const Parameter& p) { return value_in(p, &Parameter::initial); },
          [](Parameter& p, const std::optional<Value>& v) { set_value(p, &Parameter::initial, v, "initial"); },
          nb::arg("value").none())
      .def_prop_rw(
          "fixed", [](const Parameter& p) { return value_in(p, &Parameter::fixed); },
          [](Parameter& p, const std::optional<Value>& v) { set_value(p, &Parameter::fixed, v, "value"); },
          nb::arg("value").none(), "Its only value; None: it varies.")
      .def_rw("active_when", &Parameter::active_when, "An expression over other parameters; empty: always active.")
      .def(
          "__eq__", [](const Parameter& a, const Parameter& b) { return a == b; }, nb::is_operator(), equality);
  m.def(
      "real",
      [](std::string name, double lower, double upper, const std::string& scale) {
        return real(std::move(name), lower, upper, from_word<Scale>(scale));
      },
      nb::arg("name"), nb::arg("lower"), nb::arg("upper"), nb::arg("scale") = "linear");
  m.def(
      "integer",
      [](std::string name, double lower, double upper, const std::string& scale) {
        return integer(std::move(name), lower, upper, from_word<Scale>(scale));
      },
      nb::arg("name"), nb::arg("lower"), nb::arg("upper"), nb::arg("scale") = "linear");
  m.def("ordinal", &ordinal, nb::arg("name"), nb::arg("choices"));
  m.def("categorical", &categorical, nb::arg("name"), nb::arg("choices"));
  m.def("boolean", &boolean, nb::arg("name"));
  nb::class_<Space>(m, "Space")
      .def(nb::new_(&make_space), nb::arg("parameters"), nb::arg("constraints") = Expressions{})
      .def_prop_ro(
          "constraints", [](const Space& s) { return pairs_of(s.constraints()); }, "Their names and expressions.")
      .def_prop_ro("conditional", &Space::conditional, "Whether some parameters are not always active.")
      .def("start", &Space::start, "The initial values; without one, the middle of the range.")
      .def("has_start", &Space::has_start, "Whether any parameter has an initial value.")
      .def(
          "activity", [](const Space& s, const std::vector<double>& x) { return flags(s.activity(sized(s, x))); },
          nb::arg("vector"), "Whether each parameter is active.")
      .def(
          "violation", [](const Space& s, const std::vector<double>& x) { return s.violation(sized(s, x)); },
          nb::arg("vector"), "The amount by which the vector violates the constraints; 0: no violation.")
      .def(
          "from_unit",
          [](const Space& s, std::vector<double> unit) {
            s.from_unit(sized(s, unit), unit);
            return unit;
          },
          nb::arg("unit"), "The vector of numbers between 0 and 1.")
      .def(
          "to_unit",
          [](const Space& s, std::vector<double> vector) {
            s.to_unit(sized(s, vector), vector);
            return vector;
          },
          nb::arg("vector"), "The vector with each number scaled to the range from 0 to 1.")
      .def(
          "value", [](const Space& s, std::size_t i, double x) { return value_of(s[i], x); }, nb::arg("i"),
          nb::arg("x"), "The value of parameter number i that the number x of a vector stands for.")
      .def_prop_ro(
          "parameters", [](const Space& s) { return s.parameters(); },
          "Those that vary: each has a number in a vector.")
      .def_prop_ro(
          "all", [](const Space& s) { return s.all(); }, "All parameters as they were given.")
      .def(
          "spread", [](const Space& s, const std::vector<double>& x) { return s.spread(sized(s, x)); },
          nb::arg("vector"), "The vector with the numbers of fixed parameters, too.")
      .def(
          "searched", [](const Space& s, const std::vector<double>& x) { return s.searched(x); }, nb::arg("whole"),
          "The reverse of spread. Raises InputError.")
      .def("__len__", &Space::size, "The number of parameters that vary.")
      .def("named", &named, nb::arg("vector"), "The values of the active parameters by their names.")
      .def("vector_of", &vector_of, nb::arg("values"), "The vector of values by names. Raises InputError.")
      .def("at_bound", &Space::at_bound, nb::arg("i"), nb::arg("value"),
           "Whether a value of parameter number i is at a bound.")
      .def(
          "__eq__", [](const Space& a, const Space& b) { return a == b; }, nb::is_operator(), equality);
}

}  // namespace culmen::bindings
