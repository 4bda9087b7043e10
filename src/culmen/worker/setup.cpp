#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/worker/evaluator.hpp"

namespace culmen {
namespace {
constexpr std::uint8_t version = 2;

void encode_command(ByteWriter& w, const EvaluatorSpec& spec) {
  w.u8(static_cast<std::uint8_t>(spec.keep));
  w.u8(spec.json_stdin);
  w.u64(spec.templates.size());
  for (const auto& file : spec.templates) w.text(file.name), w.text(file.text);
  w.u64(spec.inputs.size());
  for (const auto& file : spec.inputs) w.text(file.path), w.text(file.name), w.u8(file.link);
  w.u64(spec.figures.size());
  for (const auto& figure : spec.figures) {
    w.text(figure.name);
    w.text(figure.file);
    w.u8(static_cast<std::uint8_t>(figure.reading));
    w.text(figure.pattern);
    w.u8(figure.first);
  }
}

// Braced initializers are evaluated in their order.
void decode_command(ByteReader& in, EvaluatorSpec& spec) {
  spec.keep = in.member(Keep::none, "keep");
  spec.json_stdin = in.u8() != 0;
  for (auto n = in.u64(); n > 0; --n) spec.templates.push_back({in.text(), in.text()});
  for (auto n = in.u64(); n > 0; --n) spec.inputs.push_back({in.text(), in.text(), in.u8() != 0});
  for (auto n = in.u64(); n > 0; --n)
    spec.figures.push_back({in.text(), in.text(), in.member(Reading::regex, "reading"), in.text(), in.u8() != 0});
}

EvaluatorSpec decode_spec(ByteReader& in) {
  EvaluatorSpec spec;
  spec.kind = in.member(EvaluatorKind::items, "evaluator kind");
  spec.isolation = in.member(Isolation::process, "isolation");
  spec.result = in.member(ResultKind::figures, "result kind");
  spec.target = in.text();
  spec.pickle = in.blob();
  spec.interpreter = in.text();
  for (auto n = in.u64(); n > 0; --n) spec.command.push_back(in.text());
  spec.time_limit_s = in.f64();
  spec.base_folder = in.text();
  spec.working_folder = in.text();
  spec.run_marker = in.text();
  for (auto n = in.u64(); n > 0; --n) {
    auto name = in.text();
    spec.environment[std::move(name)] = in.text();
  }
  for (auto n = in.u64(); n > 0; --n) spec.modules.push_back(in.text());
  spec.batch = in.u32();
  spec.output = in.member(Keep::none, "output");
  decode_command(in, spec);
  return spec;
}
}  // namespace

Bytes encode(const SetUp& set_up) {
  Bytes out;
  ByteWriter w(out);
  w.u8(version);
  set_up.space.encode(w);
  encode(set_up.goals, w);
  const auto& spec = set_up.evaluator;
  w.u8(static_cast<std::uint8_t>(spec.kind));
  w.u8(static_cast<std::uint8_t>(spec.isolation));
  w.u8(static_cast<std::uint8_t>(spec.result));
  w.text(spec.target);
  w.blob(spec.pickle);
  w.text(spec.interpreter);
  w.u64(spec.command.size());
  for (const auto& word : spec.command) w.text(word);
  w.f64(spec.time_limit_s);
  w.text(spec.base_folder);
  w.text(spec.working_folder);
  w.text(spec.run_marker);
  w.u64(spec.environment.size());
  for (const auto& [name, value] : spec.environment) w.text(name), w.text(value);
  w.u64(spec.modules.size());
  for (const auto& module : spec.modules) w.text(module);
  w.u32(spec.batch);
  w.u8(static_cast<std::uint8_t>(spec.output));
  encode_command(w, spec);
  return out;
}

void name_the_value(Outcome& outcome, const Goals& goals) {
  if (goals.objectives.size() == 1) outcome.extras.emplace_back(goals.objectives[0].name, outcome.value);
  outcome.value = 0;
}

SetUp decode_set_up(BytesView in) {
  ByteReader r(in);
  if (const auto v = r.u8(); v != version)
    throw Error(fmt::format("a set-up of version {} came; this build knows version {}", v, version));
  SetUp set_up;
  set_up.space = Space::decode(r);
  set_up.goals = decode_goals(r);
  set_up.evaluator = decode_spec(r);
  if (r.left() != 0) throw Error(fmt::format("a set-up has {} bytes too many", r.left()));
  return set_up;
}

}  // namespace culmen
