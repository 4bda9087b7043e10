#include "culmen/study/config/fingerprint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "culmen/optimizer/combine/chain.hpp"
#include "culmen/optimizer/core/info.hpp"

namespace culmen {
namespace {
// Keys of the content, as Python writes it, and their names for people.
constexpr std::array<std::pair<const char*, const char*>, 5> parts_of_content{
    {{"sha256", "the code of the model"},
     {"modules", "the modules that the model imports"},
     {"data", "the data files"},
     {"values", "the values that the function uses"},
     {"python", "the version of Python"}}};

const char* word_of(ResultKind kind) {
  return kind == ResultKind::value ? "value" : kind == ResultKind::residuals ? "residuals" : "figures";
}

std::string text_of(const Space& space) {
  std::string text;
  for (const auto& p : space.all()) {
    text += fmt::format("{:?} {} {} {} {}\n", p.name, to_string(p.kind), to_string(p.scale), p.lower, p.upper);
    for (const auto& c : p.choices) text += fmt::format("choice {} {:?}\n", kind_of(c), to_string(c));
    if (p.initial) text += fmt::format("initial {}\n", *p.initial);
    if (p.fixed) text += fmt::format("fixed {}\n", *p.fixed);
    if (!p.active_when.empty()) text += fmt::format("active when {:?}\n", p.active_when);
  }
  for (const auto& c : space.constraints()) text += fmt::format("constraint {:?} {:?}\n", c.name, c.expression);
  return text;
}

std::string text_of(const Goals& goals) {
  std::string text;
  for (const auto& o : goals.objectives)
    text += fmt::format("objective {:?} {}\n", o.name, o.direction == Direction::maximize ? "maximize" : "minimize");
  for (const auto& l : goals.limits) text += fmt::format("limit {:?} {} {}\n", l.name, l.lower, l.upper);
  for (const auto& d : goals.derived) text += fmt::format("derived {:?} {:?}\n", d.name, d.expression);
  for (const auto& c : goals.conditions) text += fmt::format("condition {:?} {:?}\n", c.name, c.expression);
  for (const auto& name : goals.residuals) text += fmt::format("residual {:?}\n", name);
  if (!goals.loss.linear()) text += fmt::format("loss {} {}\n", static_cast<int>(goals.loss.kind), goals.loss.f_scale);
  return text;
}

/// The first edition in which this optimizer proposes the candidates of this study.
Edition edition_of(const StudyConfig& c) {
  auto latest = Edition::first;
  for (const auto& link : links_of(c.optimizer)) {
    if (const auto* info = find_optimizer(link)) latest = std::max(latest, info->edition);
  }
  return std::min(latest, c.edition);
}

bool ends_only(const std::string& optimizer, const std::string& option) {
  const auto* info = find_optimizer(optimizer);
  return info != nullptr && std::ranges::any_of(info->options, [&](const OptionRule& rule) {
           return rule.name == option && rule.ends_only;
         });
}

/// In the first edition, options that only end the search were part of it, too.
std::string text_of_optimizer(const StudyConfig& c) {
  const auto edition = edition_of(c);
  std::string text = fmt::format("{:?} {}\n", c.optimizer, c.seed);
  if (edition > Edition::first) text += fmt::format("edition {}\n", static_cast<int>(edition));
  for (const auto& [name, value] : c.optimizer_options) {
    if (edition > Edition::first && ends_only(c.optimizer, name)) continue;
    text += fmt::format("{:?} {}\n", name, to_string(value));
  }
  return text;
}

/// FNV-1a.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const unsigned char byte : text) h = (h ^ byte) * 0x100000001b3ULL;
  return h;
}
}  // namespace

Work work_of(const StudyConfig& c, const std::string& content) {
  const auto space = text_of(c.space), goals = text_of(c.goals);
  const auto evaluator = fmt::format("{:?} {}\n", c.evaluator_identity, word_of(c.evaluator.result));
  Work work = hash_of(space + goals + evaluator + content);
  work.parts = {{"the parameters", hash_of(space)},
                {"the objectives and limits", hash_of(goals)},
                {"the evaluator", hash_of(evaluator)}};
  const auto files = nlohmann::json::parse(content, nullptr, false);
  for (const auto& [key, name] : parts_of_content)
    if (files.is_object() && files.contains(key)) work.parts.emplace_back(name, hash_of(files[key].dump()));
  return work;
}

std::string fingerprint_of(const StudyConfig& c) {
  std::string text = text_of(c.space);
  text += fmt::format("{:?} {}\n", c.evaluator_identity, word_of(c.evaluator.result));
  text += text_of_optimizer(c);
  text += text_of(c.goals);
  if (mode_of(c) == Mode::asynchronous) text += "asynchronous\n";
  if (c.evaluate_infeasible) text += "infeasible too\n";
  for (const auto& start : c.starts) text += fmt::format("start {}\n", fmt::join(start, " "));
  return fmt::format("{:016x}", hash_of(text));
}

}  // namespace culmen
