#include "culmen/base/near_word.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>
#include <utility>

namespace culmen {
namespace {
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}
}  // namespace

std::string plain_word(const std::string& word) {
  std::string letters;
  for (const char c : word) {
    if (c != '-' && c != '_' && c != ' ') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return letters;
}

std::string near_word(const std::string& given, const std::vector<std::string>& known) {
  const auto plain_given = plain_word(given);
  for (const auto& k : known) {
    if (plain_word(k) == plain_given) return k;
  }
  for (const auto& k : known) {
    const auto d = distance(plain_given, plain_word(k));
    if (d <= 2 && d < k.size() && 2 * d <= k.size()) return k;
  }
  return {};
}

std::string did_you_mean(const std::string& given, const std::vector<std::string>& known) {
  const auto near = near_word(given, known);
  return near.empty() ? near : fmt::format(" (did you mean '{}'?)", near);
}

std::string near_or_all(const std::string& given, const std::vector<std::string>& known) {
  if (const auto near = near_word(given, known); !near.empty()) return fmt::format("; did you mean '{}'?", near);
  const auto shown = std::span(known).first(std::min<std::size_t>(known.size(), 20));
  return fmt::format("; write {}{}{}", known.size() > 1 ? "one of " : "", fmt::join(shown, ", "),
                     shown.size() < known.size() ? ", …" : "");
}

}  // namespace culmen
