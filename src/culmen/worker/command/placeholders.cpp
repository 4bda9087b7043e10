#include "culmen/worker/command/placeholders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"

namespace culmen {
namespace {
std::string_view trim_on_its_line(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const auto begin = text.find_first_not_of(blanks);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

bool is_identifier(std::string_view text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c >= 128; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), allowed);
}

std::vector<std::string> names_of(const Space& space) {
  std::vector<std::string> names;
  for (const auto& parameter : space.parameters()) names.push_back(parameter.name);
  return names;
}

struct Found {
  std::size_t parameter;
  std::string format;
};

/// The text between the braces, if it is a parameter, with an optional format.
std::optional<Found> look_up(std::string_view inside, const Space& space) {
  // Tries the longest name first: it may contain a colon.
  for (auto colon = inside.size(); colon != inside.npos;
       colon = colon == 0 ? inside.npos : inside.rfind(':', colon - 1)) {
    const auto name = trim_on_its_line(inside.substr(0, colon));
    const auto& all = space.parameters();
    const auto at = std::ranges::find(all, name, &Parameter::name);
    if (at != all.end())
      return Found{static_cast<std::size_t>(at - all.begin()),
                   std::string(trim_on_its_line(inside.substr(std::min(colon + 1, inside.size()))))};
  }
  return {};
}
}  // namespace

PlaceholderText::PlaceholderText(const std::string& text, const Space& space, PlaceholderStyle style) : space_(&space) {
  const std::string_view open = style == PlaceholderStyle::file ? "{{" : "{";
  const std::string_view close = style == PlaceholderStyle::file ? "}}" : "}";
  std::size_t done = 0;
  for (auto at = text.find(open); at != text.npos; at = text.find(open, at)) {
    const auto begin = at + open.size();
    const auto end = text.find_first_of("{}\n", begin);
    const bool of_a_shell = style == PlaceholderStyle::words && at > 0 && text[at - 1] == '$';
    const bool closed = end != text.npos && text.compare(end, close.size(), close) == 0;
    if (closed && !of_a_shell && add(text.substr(done, at - done), text.substr(begin, end - begin)))
      done = at = end + close.size();
    else if (closed && !of_a_shell) see_unknown(text.substr(begin, end - begin), text, at++, style);
    else ++at;
  }
  rest_ = text.substr(done);
}

bool PlaceholderText::add(std::string before, const std::string& inside) {
  const auto found = look_up(inside, *space_);
  if (!found) return false;
  places_.push_back({std::move(before), found->parameter, ValueFormat((*space_)[found->parameter], found->format)});
  return true;
}

void PlaceholderText::see_unknown(const std::string& inside, const std::string& text, std::size_t at,
                                  PlaceholderStyle style) {
  const auto name = std::string(trim_on_its_line(std::string_view(inside).substr(0, inside.find(':'))));
  if (!is_identifier(name)) return;
  const auto hint = did_you_mean(name, names_of(*space_));
  if (style == PlaceholderStyle::file) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    throw InputError(fmt::format("line {}: {{{{{}}}}} is not a parameter{}", line, name, hint));
  }
  if (text.find_first_of(" \t\n") != text.npos) return;
  if (!hint.empty()) throw InputError(fmt::format("{{{}}} is not a parameter{}", name, hint));
  if (stranger_.empty()) stranger_ = name;
}

std::string PlaceholderText::fill(const std::vector<double>& x) const {
  std::string out;
  for (const auto& place : places_)
    out.append(place.before).append(place.format((*space_)[place.parameter], x[place.parameter]));
  return out.append(rest_);
}

void PlaceholderText::mark_used(std::vector<bool>& used) const {
  for (const auto& place : places_) used[place.parameter] = true;
}

}  // namespace culmen
