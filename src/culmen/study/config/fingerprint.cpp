#include "culmen/study/config/fingerprint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace culmen {
namespace {
const char* word_of(ResultKind kind) {
  return kind == ResultKind::value ? "value" : kind == ResultKind::residuals ? "residuals" : "figures";
}

std::string text_of(const Space& space) {
  std::string text;
  for (const auto& p : space.parameters()) {
    text += fmt::format("{:?} {} {} {} {}\n", p.name, to_string(p.kind), to_string(p.scale), p.lower, p.upper);
    for (const auto& c : p.choices)
      text += fmt::format("choice {} {:?}\n", c.index() == 0 ? "number" : "text", to_string(c));
    if (p.initial) text += fmt::format("initial {}\n", *p.initial);
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
  return text;
}
}  // namespace

std::string fingerprint_of(const StudyConfig& c) {
  std::string text = text_of(c.space);
  text += fmt::format("{:?} {}\n", c.evaluator_identity, word_of(c.evaluator.result));
  text += fmt::format("{:?} {}\n", c.optimizer, c.seed);
  for (const auto& [name, value] : c.optimizer_options) text += fmt::format("{:?} {}\n", name, to_string(value));
  text += text_of(c.goals);
  if (mode_of(c) == Mode::asynchronous) text += "asynchronous\n";
  if (c.evaluate_infeasible) text += "infeasible too\n";
  for (const auto& start : c.starts) text += fmt::format("start {}\n", fmt::join(start, " "));
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const unsigned char byte : text) h = (h ^ byte) * 0x100000001b3ULL;
  return fmt::format("{:016x}", h);
}

}  // namespace culmen
