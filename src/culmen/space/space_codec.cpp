#include "culmen/space/space.hpp"

namespace culmen {
namespace {
enum class ChoiceKind : std::uint8_t { real = 0, text = 1, integer = 2, truth = 3, none = 4 };

void encode_choice(const Choice& choice, ByteWriter& out) {
  out.u8(static_cast<std::uint8_t>(choice.index()));
  switch (static_cast<ChoiceKind>(choice.index())) {
    case ChoiceKind::real:
      return out.f64(std::get<double>(choice));
    case ChoiceKind::text:
      return out.text(std::get<std::string>(choice));
    case ChoiceKind::integer:
      return out.u64(static_cast<std::uint64_t>(std::get<std::int64_t>(choice)));
    case ChoiceKind::truth:
      return out.u8(std::get<bool>(choice) ? 1 : 0);
    case ChoiceKind::none:
      return;
  }
}

Choice decode_choice(ByteReader& in) {
  switch (in.member(ChoiceKind::none, "choice")) {
    case ChoiceKind::real:
      return in.f64();
    case ChoiceKind::text:
      return in.text();
    case ChoiceKind::integer:
      return static_cast<std::int64_t>(in.u64());
    case ChoiceKind::truth:
      return in.u8() != 0;
    case ChoiceKind::none:
      break;
  }
  return std::monostate();
}

void encode_parameter(const Parameter& p, ByteWriter& out) {
  out.text(p.name);
  out.u8(static_cast<std::uint8_t>(p.kind));
  out.u8(static_cast<std::uint8_t>(p.scale));
  out.f64(p.lower);
  out.f64(p.upper);
  out.u32(static_cast<std::uint32_t>(p.choices.size()));
  for (const auto& choice : p.choices) encode_choice(choice, out);
  out.u8(static_cast<std::uint8_t>((p.initial ? 1 : 0) + (p.fixed ? 2 : 0)));
  out.f64(p.initial.value_or(0));
  out.text(p.active_when);
  if (p.fixed) out.f64(*p.fixed);
}

Parameter decode_parameter(ByteReader& in) {
  Parameter p;
  p.name = in.text();
  p.kind = in.member(ParameterKind::boolean, "parameter kind");
  p.scale = in.member(Scale::log, "scale");
  p.lower = in.f64();
  p.upper = in.f64();
  for (auto k = in.u32(); k > 0; --k) p.choices.push_back(decode_choice(in));
  const auto flags = in.u8();
  const double initial = in.f64();
  if ((flags & 1) != 0) p.initial = initial;
  p.active_when = in.text();
  if ((flags & 2) != 0) p.fixed = in.f64();
  return p;
}
}  // namespace

void encode(const NamedExpression& named, ByteWriter& out) {
  out.text(named.name);
  out.text(named.expression);
}

NamedExpression decode_named_expression(ByteReader& in) {
  auto name = in.text();
  return {std::move(name), in.text()};
}

void Space::encode(ByteWriter& out) const {
  out.u64(all().size());
  for (const auto& p : all()) encode_parameter(p, out);
  out.u64(constraints_.size());
  for (const auto& c : constraints_) culmen::encode(c, out);
}

Space Space::decode(ByteReader& in) {
  std::vector<Parameter> parameters;
  for (auto n = in.u64(); n > 0; --n) parameters.push_back(decode_parameter(in));
  std::vector<Constraint> constraints;
  for (auto m = in.u64(); m > 0; --m) constraints.push_back(decode_named_expression(in));
  if (parameters.empty()) return {};  // of an Executor's items
  return Space(std::move(parameters), std::move(constraints));
}

}  // namespace culmen
