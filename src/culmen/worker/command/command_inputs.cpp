#include "culmen/worker/command/command_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/judge.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

PlaceholderText parse(const std::string& text, const Space& space, PlaceholderStyle style, const std::string& place) {
  try {
    return {text, space, style};
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", place, error.what()));
  }
}

template <class T>
nlohmann::ordered_json json_of(const T& value) {
  if constexpr (std::is_same_v<T, std::monostate>) return nullptr;
  else return value;
}

ResourceError failed_to(const char* what, const std::string& path, const std::string& why) {
  return ResourceError(fmt::format("cannot {} '{}': {}", what, path, why));
}

void make_room(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  fs::create_directories(path.parent_path(), error);
  if (error) throw failed_to("make the folder", path.parent_path().string(), error.message());
}

void place(const InputFile& input, const std::string& folder) {
  const auto path = fs::path(folder) / input.name;
  make_room(path);
  std::error_code error;
  if (input.link) fs::create_symlink(input.path, path, error);
  else fs::copy(input.path, path, fs::copy_options::recursive, error);
  if (error) throw failed_to(input.link ? "link" : "copy", input.path, error.message());
}

void write(const fs::path& path, const std::string& text) {
  make_room(path);
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw failed_to("write", path.string(), std::strerror(errno));
}
}  // namespace

CommandInputs::CommandInputs(const SetUp& set_up)
    : space_(set_up.space.whole()), variables_(space_), inputs_(set_up.evaluator.as<CommandSpec>().inputs) {
  const auto& spec = set_up.evaluator.as<CommandSpec>();
  if (spec.command.empty() || spec.command[0].empty())
    throw InputError("the command is empty; give a program and its arguments");
  for (std::size_t i = 1; i < spec.command.size(); ++i)
    words_.push_back(
        parse(spec.command[i], space_, PlaceholderStyle::words, fmt::format("command, '{}'", spec.command[i])));
  for (const auto& [name, value] : set_up.evaluator.environment) {
    if (value) environment_.emplace(name, parse(*value, space_, PlaceholderStyle::words, "environment, " + name));
    else removed_.push_back(name);
  }
  for (const auto& file : spec.templates) {
    templates_.push_back({file.name, parse(file.text, space_, PlaceholderStyle::file, "templates, " + file.name)});
    if (!templates_.back().text.has_places())
      throw InputError(fmt::format(
          "templates, {}: it contains no parameter such as {{{{{}}}}}; to copy a file unchanged, use inputs.copy",
          file.name, space_[0].name));
  }
  check_use(set_up);
}

/// A fixed parameter may be for a person, and one of an expression has an effect there.
void CommandInputs::check_use(const SetUp& set_up) const {
  const auto& spec = set_up.evaluator.as<CommandSpec>();
  const auto odd = std::ranges::find_if(words_, [](const auto& word) { return !word.stranger().empty(); });
  if ((templates_.empty() && odd == words_.end()) || spec.json_stdin) return;
  auto used = Judge(set_up.goals, set_up.space).used_parameters();
  std::vector<bool> is_searched(space_.size());
  for (std::size_t i = 0; i < set_up.space.size(); ++i) is_searched[set_up.space.place(i)] = true;
  for (std::size_t i = 0; i < used.size(); ++i) used[i] = used[i] || !is_searched[i];
  for (const auto& word : words_) word.mark_used(used);
  for (const auto& [name, value] : environment_) value.mark_used(used);
  for (const auto& file : templates_) file.text.mark_used(used);
  const auto unused = std::ranges::find(used, false) - used.begin();
  if (unused == static_cast<std::ptrdiff_t>(used.size())) return;
  const auto& name = space_[static_cast<std::size_t>(unused)].name;
  if (odd != words_.end())
    throw InputError(
        fmt::format("command: {{{}}} is not a parameter, and the parameter '{}' is not used; write {{{}}} in a word of "
                    "the command, "
                    "in a template or in a value of environment, or write stdin = \"json\"",
                    odd->stranger(), name, name));
  throw InputError(
      fmt::format("templates: none contains {{{{{}}}}}, so the parameter '{}' would have no effect", name, name));
}

std::vector<double> CommandInputs::at_rest(const Candidate& candidate) const {
  auto x = candidate.x;
  space_.rest_inactive(x);
  return x;
}

void CommandInputs::set(const Candidate& candidate, Attempt attempt, SpawnRequest& request) const {
  const auto x = at_rest(candidate);
  request.command.resize(1);
  for (const auto& word : words_) request.command.push_back(word.fill(x));
  variables_.set(candidate, request.environment);
  for (const auto& [name, value] : environment_) request.environment[name] = value.fill(x);
  for (const auto& name : removed_) request.environment[name].reset();
  request.environment["CULMEN_EVALUATION"] = std::to_string(candidate.id);
  request.environment["CULMEN_ATTEMPT"] = std::to_string(attempt);
}

void CommandInputs::place_files(const Candidate& candidate, const std::string& folder) const {
  const auto x = at_rest(candidate);
  for (const auto& input : inputs_) place(input, folder);
  for (const auto& file : templates_) write(fs::path(folder) / file.name, file.text.fill(x));
}

std::string CommandInputs::as_json(const Candidate& candidate) const {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < space_.size(); ++i) {
    if (std::isnan(candidate.x[i])) continue;
    std::visit([&](const auto& value) { object[space_[i].name] = json_of(value); },
               value_of(space_[i], candidate.x[i]));
  }
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace culmen
