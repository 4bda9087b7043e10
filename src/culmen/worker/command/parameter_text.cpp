#include "culmen/worker/command/parameter_text.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::size_t longest_format = 12;  // with at most three digits in a row: a huge width must not exhaust memory

bool is_decent(const std::string& format) {
  std::size_t digits = 0;
  for (const char c : format) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3 || c == '{' || c == '}') return false;
  }
  return format.size() <= longest_format;
}

std::string formatted(const std::string& replacement, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return formatted(replacement, to_string(value));
  return std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, std::monostate>) return std::string();
        else return fmt::format(fmt::runtime(replacement), v);
      },
      value);
}

bool suits(const std::string& replacement, const Value& value) {
  try {
    (void)formatted(replacement, value);
    return true;
  } catch (const fmt::format_error&) {
    return false;
  }
}

/// A format for reals is also one for whole numbers.
Value as_real(const Value& value) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  return whole != nullptr ? Value(static_cast<double>(*whole)) : value;
}

/// The values that matter for formats.
std::vector<Value> samples_of(const Parameter& parameter) {
  if (parameter.choices.empty()) return {value_of(parameter, parameter.lower)};
  std::vector<Value> samples;
  for (double x = 0; x < static_cast<double>(parameter.choices.size()); ++x) samples.push_back(value_of(parameter, x));
  return samples;
}
}  // namespace

ValueFormat::ValueFormat(const Parameter& parameter, const std::string& format) {
  if (format.empty()) return;
  replacement_ = "{:" + format + "}";
  for (const auto& sample : samples_of(parameter)) {
    if (is_decent(format) && (suits(replacement_, sample) || suits(replacement_, as_real(sample)))) continue;
    const auto whose = fmt::format("the {} parameter '{}'", to_string(parameter.kind), parameter.name);
    const bool one_of_many = !parameter.choices.empty();
    throw InputError(fmt::format("'{}' is not a format for {}{}; write one like {}", format,
                                 one_of_many ? to_string(sample) + ", a choice of " : "", whose,
                                 std::holds_alternative<double>(sample)         ? ".6e or 12.4f"
                                 : std::holds_alternative<std::int64_t>(sample) ? "05d, .6e or 12.4f"
                                                                                : ">8 or <12"));
  }
}

std::string ValueFormat::operator()(const Parameter& parameter, double x) const {
  const auto value = value_of(parameter, x);
  if (replacement_.empty()) return to_string(value);
  return formatted(replacement_, suits(replacement_, value) ? value : as_real(value));
}

}  // namespace culmen
