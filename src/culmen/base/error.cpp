#include "culmen/base/error.hpp"

#include <string>

#include "culmen/base/null_character.hpp"

namespace culmen {

Error::Error(const std::string& what) : std::runtime_error(without_null(what)) {}

}  // namespace culmen
