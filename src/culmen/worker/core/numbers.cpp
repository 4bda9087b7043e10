#include "culmen/worker/core/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace culmen {
namespace {
std::optional<double> plain_number(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}
}  // namespace

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const auto word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

std::optional<double> number(std::string_view word) {
  if (const auto value = plain_number(word)) return value;
  const auto exponent = word.find_first_of("dD");
  if (exponent == word.npos || exponent == 0 || word.find_first_not_of("0123456789.+-dD") != word.npos) return {};
  std::string as_in_c(word);
  as_in_c[exponent] = 'e';
  return plain_number(as_in_c);
}

}  // namespace culmen
