#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "culmen/space/space.hpp"
#include "names.hpp"

namespace nb = nanobind;

namespace culmen::bindings {
namespace {

nb::dict named(const Space& space, const std::vector<double>& vector) {
  if (vector.size() != space.size())
    throw InputError("a vector of " + std::to_string(vector.size()) + " values was given; the space has " +
                     std::to_string(space.size()));
  nb::dict out;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto& p = space[i];
    if (p.kind == ParameterKind::integer) out[p.name.c_str()] = static_cast<long long>(vector[i]);
    else out[p.name.c_str()] = vector[i];
  }
  return out;
}

std::vector<double> vector_of(const Space& space, const nb::dict& values) {
  std::vector<std::pair<std::string, double>> list;
  for (auto [key, value] : values) list.emplace_back(nb::cast<std::string>(key), nb::cast<double>(value));
  return space.vector_of(list);
}

}  // namespace

void bind_space(nb::module_& m) {
  nb::class_<Parameter>(m, "Parameter")
      .def_ro("name", &Parameter::name)
      .def_prop_ro("kind", getter(&Parameter::kind))
      .def_prop_ro("scale", getter(&Parameter::scale))
      .def_ro("lower", &Parameter::lower)
      .def_ro("upper", &Parameter::upper)
      .def("__eq__", [](const Parameter& a, const Parameter& b) { return a == b; });
  m.def(
      "real",
      [](std::string name, double lower, double upper, const std::string& scale) {
        return real(std::move(name), lower, upper, from_word<Scale>(scale));
      },
      nb::arg("name"), nb::arg("lower"), nb::arg("upper"), nb::arg("scale") = "linear");
  m.def("integer", &integer, nb::arg("name"), nb::arg("lower"), nb::arg("upper"));
  nb::class_<Space>(m, "Space")
      .def(nb::init<std::vector<Parameter>>(), nb::arg("parameters"))
      .def_prop_ro("parameters", [](const Space& s) { return s.parameters(); })
      .def("__len__", &Space::size)
      .def("named", &named, nb::arg("vector"))
      .def("vector_of", &vector_of, nb::arg("values"))
      .def("at_bound", &Space::at_bound, nb::arg("i"), nb::arg("value"))
      .def("__eq__", [](const Space& a, const Space& b) { return a == b; });
}

}  // namespace culmen::bindings
