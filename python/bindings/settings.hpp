// Settings of the study file as properties of the classes that have them, by the names of `each_setting`.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <type_traits>

#include "names.hpp"

namespace culmen::bindings {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// `part(owner)` is the struct that has the settings.
template <class Part, class Owner, class Access>
void bind_settings(nanobind::class_<Owner>& bound, Access part) {
  Part::each_setting([&]<class Field, class Holder>(const char* name, Field Holder::*member) {
    if constexpr (std::is_enum_v<Field>) {
      bound.def_prop_rw(
          name, [=](Owner& o) { return word_of(part(o).*member); },
          [=](Owner& o, const std::string& word) { part(o).*member = from_word<Field>(word); },
          one_of<Field>().c_str());
    } else {
      const auto get = [=](Owner& o) { return part(o).*member; };
      const auto set = [=](Owner& o, const Field& value) { part(o).*member = value; };
      if constexpr (is_optional<Field>) bound.def_prop_rw(name, get, set, nanobind::arg("value").none());
      else bound.def_prop_rw(name, get, set);
    }
  });
}
/// For a class that has the settings itself.
template <class Owner>
void bind_settings(nanobind::class_<Owner>& bound) {
  bind_settings<Owner>(bound, [](Owner& o) -> Owner& { return o; });
}

}  // namespace culmen::bindings
