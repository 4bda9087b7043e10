#include <fmt/format.h>
#include <re2/re2.h>

#include <nlohmann/json.hpp>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/worker/command/command_output.hpp"
#include "culmen/worker/core/numbers.hpp"

namespace culmen {
namespace {
using nlohmann::json;
constexpr double matching_limit_s =
    10;  // one match takes linear time in the text, but all matches together may take more

/// The text as JSON. If it is not JSON, its last line, because programs may print a log first.
json parse(std::string_view text, const std::string& place) {
  text = trim(text);
  auto tree = json::parse(text, nullptr, false);
  if (tree.is_discarded()) tree = json::parse(text.substr(text.rfind('\n') + 1), nullptr, false);
  if (tree.is_discarded()) throw Error(fmt::format("{} is not JSON", place));
  return tree;
}

const json* step(const json& node, const std::string& key) {
  if (node.is_object()) {
    const auto at = node.find(key);
    return at == node.end() ? nullptr : &*at;
  }
  const auto index = number(key);
  if (!node.is_array() || !index || !(*index >= 0 && *index < static_cast<double>(node.size()))) return nullptr;
  return &node[static_cast<std::size_t>(*index)];
}

const json* find(const json& tree, const std::string& path) {
  if (path.starts_with('/')) {
    try {
      const json::json_pointer pointer(path);
      return tree.contains(pointer) ? &tree.at(pointer) : nullptr;
    } catch (const json::exception&) {
      return nullptr;
    }
  }
  const json* node = &tree;
  for (std::size_t begin = 0; node != nullptr && !path.empty() && begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    node = step(*node, path.substr(begin, end - begin));
    begin = end + 1;
  }
  return node;
}

double as_number(const json& node, const std::string& key, const std::string& place) {
  if (node.is_number()) return node.get<double>();
  throw Error(fmt::format("'{}' in {} is {}, but must be a number", key, place,
                          node.is_null() ? "null" : fmt::format("of type {}", node.type_name())));
}

double as_number(std::string_view word, const std::string& place) {
  if (const auto value = number(word)) return *value;
  throw Error(fmt::format("'{}' in {} is not a number", word.substr(0, 80), place));
}

std::string_view without_comments(std::string_view text, std::string& buffer) {
  if (text.find('#') == text.npos) return text;
  for (; !text.empty();) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!trim(line).starts_with('#')) buffer.append(line).push_back('\n');
  }
  return buffer;
}
}  // namespace

FigureReader::FigureReader(const FigureSource& source) : source_(source) {
  if (source_.reading != Reading::regex) return;
  RE2::Options options;
  options.set_log_errors(false);
  if (const RE2 alone(source_.pattern, options); !alone.ok())
    throw InputError(
        fmt::format("{}: '{}' is not a regular expression: {}", source_.name, source_.pattern, alone.error()));
  regex_ = std::make_unique<RE2>("(?m)" + source_.pattern, options);
}

FigureReader::~FigureReader() = default;
FigureReader::FigureReader(FigureReader&&) noexcept = default;

std::string FigureReader::place() const {
  return source_.file.empty() ? "the standard output" : fmt::format("the file '{}'", source_.file);
}

double FigureReader::one(std::string_view text) const {
  if (source_.reading == Reading::json) {
    const auto tree = parse(text, place());
    const auto* node = find(tree, source_.pattern);
    if (node == nullptr) throw Error(fmt::format("there is no '{}' in {}", source_.pattern, place()));
    return as_number(*node, source_.pattern, place());
  }
  if (source_.reading == Reading::regex) return as_number(matches(text, source_.first).back(), place());
  text = trim(text);
  if (text.empty()) throw Error(fmt::format("{} is empty; it must contain a number", place()));
  return as_number(text.substr(text.find_last_of(" \t\r\n\v\f=") + 1), place());
}

std::vector<double> FigureReader::all(std::string_view text) const {
  std::vector<double> numbers;
  if (source_.reading == Reading::json) {
    const auto tree = parse(text, place());
    const auto* node = find(tree, source_.pattern);
    if (node == nullptr) throw Error(fmt::format("there is no '{}' in {}", source_.pattern, place()));
    if (!node->is_array()) throw Error(fmt::format("'{}' in {} is not an array", source_.pattern, place()));
    for (const auto& item : *node) numbers.push_back(as_number(item, source_.pattern, place()));
  } else if (source_.reading == Reading::regex) {
    for (const auto word : matches(text, false)) numbers.push_back(as_number(word, place()));
  } else {
    std::string buffer;
    text = without_comments(text, buffer);
    for (auto word = take_word(text); !word.empty(); word = take_word(text))
      numbers.push_back(as_number(word, place()));
  }
  if (numbers.empty()) throw Error(fmt::format("there is no number in {}", place()));
  return numbers;
}

std::vector<std::string_view> FigureReader::matches(std::string_view text, bool first_alone) const {
  const re2::StringPiece whole(text.data(), text.size());
  re2::StringPiece groups[2];
  const int wanted = std::min(regex_->NumberOfCapturingGroups(), 1) + 1;
  std::vector<std::string_view> found;
  const SteadyClock clock;
  const double start_s = clock.now_s();
  for (std::size_t at = 0; at <= text.size();) {
    if (!regex_->Match(whole, at, text.size(), RE2::UNANCHORED, groups, wanted)) break;
    const auto& group = groups[wanted - 1];
    if (group.data() != nullptr) found.push_back(trim(std::string_view(group.data(), group.size())));
    const auto end = static_cast<std::size_t>(groups[0].data() - text.data()) + groups[0].size();
    at = groups[0].empty() ? end + 1 : end;
    if (first_alone && !found.empty()) break;
    if (clock.now_s() - start_s > matching_limit_s)
      throw Error(
          fmt::format("looking for '{}' in {} took longer than {} s", source_.pattern, place(), matching_limit_s));
  }
  if (found.empty()) throw Error(fmt::format("'{}' matches nothing in {}", source_.pattern, place()));
  return found;
}

}  // namespace culmen
