#include "culmen/space/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr double at_bound_share = 1e-6;
constexpr double largest_integer = 9007199254740992.0;  // 2^53

void check(const Parameter& p) {
  const auto fail = [&](const std::string& why) { throw InputError(fmt::format("parameter '{}': {}", p.name, why)); };
  if (p.name.empty()) throw InputError("a parameter has an empty name; give every parameter a name of its own");
  if (!std::isfinite(p.lower) || !std::isfinite(p.upper))
    fail(fmt::format("bounds [{}, {}] must be finite numbers", p.lower, p.upper));
  if (!(p.lower < p.upper)) fail(fmt::format("lower bound {} must be below upper bound {}", p.lower, p.upper));
  if (!std::isfinite(p.upper - p.lower))
    fail(fmt::format("the range [{}, {}] is wider than a double can hold", p.lower, p.upper));
  if (p.scale == Scale::log && !(p.lower > 0))
    fail(fmt::format("a log scale needs a lower bound above 0, not {}", p.lower));
  if (p.kind == ParameterKind::integer) {
    if (p.lower != std::floor(p.lower) || p.upper != std::floor(p.upper))
      fail(fmt::format("integer bounds must be whole numbers, not [{}, {}]", p.lower, p.upper));
    if (std::abs(p.lower) >= largest_integer || std::abs(p.upper) >= largest_integer)
      fail("integer bounds must be below 2^53 in size");
    if (p.scale == Scale::log) fail("an integer cannot have a log scale in this version; use scale = \"linear\"");
  }
}

double from_unit_one(const Parameter& p, double u) {
  u = std::clamp(std::isnan(u) ? 0.5 : u, 0.0, 1.0);
  if (p.kind == ParameterKind::integer) {
    const double cells = p.upper - p.lower + 1;
    return std::min(p.lower + std::floor(u * cells), p.upper);
  }
  if (u == 0) return p.lower;
  if (u == 1) return p.upper;
  const double v = p.scale == Scale::log ? std::exp(std::log(p.lower) + u * (std::log(p.upper) - std::log(p.lower)))
                                         : p.lower + u * (p.upper - p.lower);
  return std::clamp(v, p.lower, p.upper);
}

double to_unit_one(const Parameter& p, double v) {
  if (p.kind == ParameterKind::integer) return (v - p.lower + 0.5) / (p.upper - p.lower + 1);
  if (p.scale == Scale::log)
    return std::clamp((std::log(v) - std::log(p.lower)) / (std::log(p.upper) - std::log(p.lower)), 0.0, 1.0);
  return std::clamp((v - p.lower) / (p.upper - p.lower), 0.0, 1.0);
}
}  // namespace

Parameter real(std::string name, double lower, double upper, Scale scale) {
  return {std::move(name), ParameterKind::real, scale, lower, upper};
}
Parameter integer(std::string name, double lower, double upper) {
  return {std::move(name), ParameterKind::integer, Scale::linear, lower, upper};
}

Space::Space(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {
  if (parameters_.empty()) throw InputError("the space has no parameter; give at least one");
  std::set<std::string_view> names;
  for (const auto& p : parameters_) {
    check(p);
    if (!names.insert(p.name).second)
      throw InputError(fmt::format("parameter '{}' is there twice; give every parameter a name of its own", p.name));
  }
}

std::size_t Space::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == name) return i;
  }
  std::string known;
  for (const auto& p : parameters_) known += (known.empty() ? "" : ", ") + p.name;
  throw InputError(fmt::format("there is no parameter '{}'; the space has {}", name, known));
}

void Space::from_unit(std::span<const double> unit, std::span<double> vector) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) vector[i] = from_unit_one(parameters_[i], unit[i]);
}

void Space::to_unit(std::span<const double> vector, std::span<double> unit) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) unit[i] = to_unit_one(parameters_[i], vector[i]);
}

std::vector<std::pair<std::string, double>> Space::named(std::span<const double> vector) const {
  std::vector<std::pair<std::string, double>> out;
  out.reserve(parameters_.size());
  for (std::size_t i = 0; i < parameters_.size(); ++i) out.emplace_back(parameters_[i].name, vector[i]);
  return out;
}

std::vector<double> Space::vector_of(std::span<const std::pair<std::string, double>> values) const {
  std::vector<double> out(parameters_.size());
  std::vector<char> seen(parameters_.size());
  for (const auto& [name, value] : values) {
    const auto i = index_of(name);
    const auto& p = parameters_[i];
    if (seen[i]++) throw InputError(fmt::format("parameter '{}' is given twice", name));
    if (!(value >= p.lower && value <= p.upper))
      throw InputError(fmt::format("parameter '{}': {} is outside [{}, {}]", name, value, p.lower, p.upper));
    if (p.kind == ParameterKind::integer && value != std::floor(value))
      throw InputError(fmt::format("parameter '{}': {} is not a whole number", name, value));
    out[i] = value;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (!seen[i]) throw InputError(fmt::format("parameter '{}' is missing", parameters_[i].name));
  }
  return out;
}

bool Space::at_bound(std::size_t i, double value) const {
  const auto& p = parameters_[i];
  if (p.kind == ParameterKind::integer) return value == p.lower || value == p.upper;
  const double u = to_unit_one(p, value);
  return u <= at_bound_share || u >= 1 - at_bound_share;
}

void Space::encode(ByteWriter& out) const {
  out.u64(parameters_.size());
  for (const auto& p : parameters_) {
    out.text(p.name);
    out.u8(static_cast<std::uint8_t>(p.kind));
    out.u8(static_cast<std::uint8_t>(p.scale));
    out.f64(p.lower);
    out.f64(p.upper);
  }
}

Space Space::decode(ByteReader& in) {
  std::vector<Parameter> parameters;
  for (auto n = in.u64(); n > 0; --n) {
    Parameter p;
    p.name = in.text();
    p.kind = in.member(ParameterKind::integer, "parameter kind");
    p.scale = in.member(Scale::log, "scale");
    p.lower = in.f64();
    p.upper = in.f64();
    parameters.push_back(std::move(p));
  }
  return Space(std::move(parameters));
}

}  // namespace culmen
