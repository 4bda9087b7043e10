// Error messages of a space for wrong uses.
#pragma once
#include <string>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// The sentence of the InputError that `use` throws, else "accepted".
template <class Use>
std::string message(const Use& use) {
  try {
    use();
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

/// Of a space that cannot be.
inline std::string message_of(std::vector<Parameter> parameters, std::vector<Constraint> constraints = {}) {
  return message([&] { Space(std::move(parameters), std::move(constraints)); });
}

/// Of values that are not in the space.
inline std::string message_at(const Space& space, const std::vector<Space::Named>& values) {
  return message([&] { space.vector_of(values); });
}

}  // namespace culmen
