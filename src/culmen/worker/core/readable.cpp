#include "culmen/worker/core/readable.hpp"

#include <algorithm>
#include <string_view>

namespace culmen {
namespace {
/// The length in bytes of the UTF-8 character at the start of the text. 0 if it is invalid or a control character (RFC
/// 3629, table of section 4).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto first = byte(0), second = byte(1);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t n = first >= 0xc2 && first <= 0xdf   ? 2
                        : first >= 0xe0 && first <= 0xef ? 3
                        : first >= 0xf0 && first <= 0xf4 ? 4
                                                         : 0;
  for (std::size_t i = 1; i < n; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return overlong || no_character ? 0 : n;
}
}  // namespace

void make_readable(std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto n = character_bytes(std::string_view(text).substr(i));
    char& c = text[i];
    if (n == 0 && c != '\n' && c != '\t') c = c == '\r' ? '\n' : '?';
    i += std::max<std::size_t>(n, 1);
  }
}

}  // namespace culmen
