#include "culmen/worker/command/command_protocol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
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

void CommandEnvironment::set(const Candidate& candidate, EnvironmentChanges& environment) const {
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

}  // namespace culmen
