#include "culmen/worker/core/evaluator_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::uint8_t set_up_version = 4;
constexpr std::size_t usual_size = 4096;
const std::string removed(1, '\0');  // no variable has this value

/// The parts of all kinds, in the order of the layout.
struct AllParts {
  std::string target;
  SharedBytes pickle;
  std::string interpreter;
  std::uint32_t batch = 0;
  CommandSpec command;
};

struct Gather {
  AllParts operator()(const FunctionSpec&) const { return {}; }
  AllParts operator()(const PythonSpec& p) const { return {p.target, p.pickle, p.interpreter, p.batch, {}}; }
  AllParts operator()(const LibrarySpec& p) const { return {p.target, {}, {}, 0, {}}; }
  AllParts operator()(const CommandSpec& p) const { return {{}, {}, {}, 0, p}; }
  AllParts operator()(const ItemsSpec& p) const { return {{}, p.pickle, p.interpreter, 0, {}}; }
};

decltype(EvaluatorSpec::how) part_of(EvaluatorKind kind, AllParts all) {
  switch (kind) {
    case EvaluatorKind::function:
      return FunctionSpec{};
    case EvaluatorKind::python:
      return PythonSpec{std::move(all.target), std::move(all.pickle), std::move(all.interpreter), all.batch};
    case EvaluatorKind::library:
      return LibrarySpec{std::move(all.target)};
    case EvaluatorKind::command:
      return std::move(all.command);
    case EvaluatorKind::items:
      return ItemsSpec{std::move(all.pickle), std::move(all.interpreter)};
  }
  throw Error("an evaluator of an unknown kind");
}

void encode_words(ByteWriter& w, const std::vector<std::string>& words) {
  w.u64(words.size());
  for (const auto& word : words) w.text(word);
}

void encode_command(ByteWriter& w, const CommandSpec& command) {
  w.u8(static_cast<std::uint8_t>(command.keep));
  w.u8(command.json_stdin);
  w.u64(command.templates.size());
  for (const auto& file : command.templates) w.text(file.name), w.text(file.text);
  w.u64(command.inputs.size());
  for (const auto& file : command.inputs) w.text(file.path), w.text(file.name), w.u8(file.link);
  w.u64(command.figures.size());
  for (const auto& figure : command.figures) {
    w.text(figure.name);
    w.text(figure.file);
    w.u8(static_cast<std::uint8_t>(figure.reading));
    w.text(figure.pattern);
    w.u8(figure.first);
  }
}

void encode_spec(ByteWriter& w, const EvaluatorSpec& spec) {
  const auto all = std::visit(Gather{}, spec.how);
  w.u8(static_cast<std::uint8_t>(spec.kind()));
  w.u8(static_cast<std::uint8_t>(spec.isolation));
  w.u8(static_cast<std::uint8_t>(spec.result));
  w.text(all.target);
  w.blob(all.pickle);
  w.text(all.interpreter);
  encode_words(w, all.command.command);
  w.f64(spec.time_limit_s);
  w.text(spec.base_folder);
  w.text(spec.working_folder);
  w.text(spec.run_marker);
  w.u64(spec.environment.size());
  for (const auto& [name, value] : spec.environment) w.text(name), w.text(value ? *value : removed);
  encode_words(w, spec.modules);
  w.u32(all.batch);
  w.u8(static_cast<std::uint8_t>(spec.output));
  encode_command(w, all.command);
}

// Braced initializers are evaluated in order.
void decode_command(ByteReader& in, CommandSpec& command) {
  command.keep = in.member(Keep::none, "keep");
  command.json_stdin = in.u8() != 0;
  for (auto n = in.u64(); n > 0; --n) command.templates.push_back({in.text(), in.text()});
  for (auto n = in.u64(); n > 0; --n) command.inputs.push_back({in.text(), in.text(), in.u8() != 0});
  for (auto n = in.u64(); n > 0; --n)
    command.figures.push_back({in.text(), in.text(), in.member(Reading::regex, "reading"), in.text(), in.u8() != 0});
}

EvaluatorSpec decode_spec(ByteReader& in) {
  EvaluatorSpec spec;
  AllParts all;
  const auto kind = in.member(EvaluatorKind::items, "evaluator kind");
  spec.isolation = in.member(Isolation::process, "isolation");
  spec.result = in.member(ResultKind::figures, "result kind");
  all.target = in.text();
  all.pickle = in.blob();
  all.interpreter = in.text();
  for (auto n = in.u64(); n > 0; --n) all.command.command.push_back(in.text());
  spec.time_limit_s = in.f64();
  spec.base_folder = in.text();
  spec.working_folder = in.text();
  spec.run_marker = in.text();
  for (auto n = in.u64(); n > 0; --n) {
    auto name = in.text();
    auto value = in.text();
    spec.environment[std::move(name)] = value == removed ? std::nullopt : std::optional(std::move(value));
  }
  for (auto n = in.u64(); n > 0; --n) spec.modules.push_back(in.text());
  all.batch = in.u32();
  spec.output = in.member(Keep::none, "output");
  decode_command(in, all.command);
  spec.how = part_of(kind, std::move(all));
  return spec;
}

BytesView pickle_of(const EvaluatorSpec& spec) {
  if (const auto* python = std::get_if<PythonSpec>(&spec.how)) return python->pickle;
  if (const auto* items = std::get_if<ItemsSpec>(&spec.how)) return items->pickle;
  return {};
}
}  // namespace

bool starts_children(const EvaluatorSpec& spec) {
  if (spec.kind() == EvaluatorKind::command) return true;
  return spec.kind() != EvaluatorKind::function && spec.isolation == Isolation::process;
}

std::size_t batch_of(const EvaluatorSpec& spec) {
  const auto* python = std::get_if<PythonSpec>(&spec.how);
  return python == nullptr ? 1 : std::max(python->batch, 1U);
}

Bytes encode(const SetUp& set_up) {
  Bytes out;
  out.reserve(pickle_of(set_up.evaluator).size() + usual_size);
  ByteWriter w(out);
  w.u8(set_up_version);
  set_up.space.encode(w);
  encode(set_up.goals, w);
  encode_spec(w, set_up.evaluator);
  return out;
}

SetUp decode_set_up(BytesView in) {
  ByteReader r(in);
  if (const auto v = r.u8(); v != set_up_version)
    throw Error(fmt::format("got a set-up of version {}, but this build knows version {}", v, set_up_version));
  SetUp set_up;
  set_up.space = Space::decode(r);
  set_up.goals = decode_goals(r);
  set_up.evaluator = decode_spec(r);
  if (r.left() != 0) throw Error(fmt::format("a set-up has {} bytes too many", r.left()));
  return set_up;
}

}  // namespace culmen
