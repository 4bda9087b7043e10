#include "culmen/base/shell_word.hpp"

#include <string_view>

namespace culmen {

std::string shell_word(const std::string& text) {
  constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
  if (!text.empty() && text.find_first_not_of(harmless) == std::string::npos) return text;
  std::string out = "'";
  for (const char c : text) c == '\'' ? out += "'\"'\"'" : out += c;
  return out + "'";
}

}  // namespace culmen
