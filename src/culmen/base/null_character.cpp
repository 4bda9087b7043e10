#include "culmen/base/null_character.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"

namespace culmen {

void check_for_null(const char* what, const std::string& name) {
  if (has_null(name))
    throw InputError(fmt::format("{} {:?}: its name contains a null character; remove it", what, name));
}

std::string without_null(const std::string& text) {
  std::string shown;
  for (const char letter : text) {
    if (letter == '\0') shown += "\\0";
    else shown += letter;
  }
  return shown;
}

}  // namespace culmen
