#include "culmen/worker/command_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::string_view blanks = " \t\r\n\v\f";

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 128;
}

bool is_shell_identifier(std::string_view name) {
  const auto allowed = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed) &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

std::string prefixed(std::string_view name) {
  std::string out = "CULMEN_PARAM_";
  for (char c : name)
    out += is_letter_or_digit(c) ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
  return out;
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<double> number(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

/// Takes the first word off the text; empty at its end.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const auto word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

bool read_extra(std::string_view line, Outcome& outcome) {
  const auto equals = line.find('=');
  if (equals == line.npos) return false;
  const auto name = trim(line.substr(0, equals));
  const auto value = number(trim(line.substr(equals + 1)));
  if (name.empty() || name.find_first_of(blanks) != name.npos || !value) return false;
  outcome.extras.emplace_back(name, *value);
  return true;
}

Outcome wrong(std::string_view word, const char* wanted) {
  return Outcome::failure(Status::wrong_shape,
                          fmt::format("the program printed '{}' where {}", word.substr(0, 80), wanted));
}

/// Adds the numbers of a line; gives back the first word that is none.
std::string_view read_residuals(std::string_view line, std::vector<double>& residuals) {
  for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
    const auto value = number(word);
    if (!value) return word;
    residuals.push_back(*value);
  }
  return {};
}
}  // namespace

CommandEnvironment::CommandEnvironment(const Space& space) : space_(space) {
  std::map<std::string, std::string> owners;
  for (const auto& parameter : space.parameters()) {
    const auto& name = parameter.name;
    const auto [other, fresh] = owners.emplace(prefixed(name), name);
    if (!fresh)
      throw InputError(
          fmt::format("the parameters '{}' and '{}' would both be the variable {} of the command; rename one",
                      other->second, name, other->first));
    const bool plain =
        is_shell_identifier(name) && !name.starts_with("CULMEN_") && std::getenv(name.c_str()) == nullptr;
    of_parameter_.push_back({other->first, plain ? name : std::string()});
  }
}

void CommandEnvironment::set(const Candidate& candidate, std::map<std::string, std::string>& environment) const {
  for (std::size_t i = 0; i < of_parameter_.size(); ++i) {
    const auto& variables = of_parameter_[i];
    if (std::isnan(candidate.x[i])) {
      environment.erase(variables.prefixed);
      environment.erase(variables.plain);
      continue;
    }
    const auto text = to_string(value_of(space_[i], candidate.x[i]));
    environment[variables.prefixed] = text;
    if (!variables.plain.empty()) environment[variables.plain] = text;
  }
}

Outcome read_command_output(std::string_view text, ResultKind kind) {
  text = trim(text);
  if (text.empty())
    return Outcome::failure(Status::wrong_shape,
                            "the program printed nothing; a number is wanted on its standard output");
  Outcome outcome;
  std::vector<double> residuals;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const bool last = line.size() == text.size();
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if ((!last || kind != ResultKind::value) && read_extra(line, outcome)) continue;
    if (kind == ResultKind::residuals) {
      if (const auto word = read_residuals(line, residuals); !word.empty())
        return wrong(word, "only residuals (numbers) and lines `name = number` are allowed");
    } else if (last) {
      const auto word = line.substr(line.find_last_of(" \t=") + 1);
      const auto value = number(word);
      if (!value) return wrong(word, "its last word has to be the value, a number");
      outcome.value = *value;
    }
  }
  if (kind != ResultKind::residuals) return outcome;
  if (residuals.empty()) return Outcome::failure(Status::wrong_shape, "the program printed no residual");
  auto extras = std::move(outcome.extras);
  outcome = Outcome::of_residuals(std::move(residuals));
  outcome.extras = std::move(extras);
  return outcome;
}

}  // namespace culmen
