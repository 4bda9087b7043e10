#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/worker/evaluator.hpp"

namespace culmen {
namespace {
constexpr std::uint8_t version = 2;

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
