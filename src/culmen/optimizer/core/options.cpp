#include "culmen/optimizer/core/options.hpp"

#include <fmt/format.h>

namespace culmen {

std::string to_string(const OptionValue& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return fmt::format("\"{}\"", *word);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return fmt::format("{}", std::get<double>(value));
}

}  // namespace culmen
