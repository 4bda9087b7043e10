#include "culmen/evaluation/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace culmen {
namespace {

/// The sign of a NaN means nothing and differs between CPUs.
double shown(double figure) { return std::isnan(figure) ? std::abs(figure) : figure; }

}  // namespace

const char* to_string(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::failed:
      return "failed";
    case Status::crashed:
      return "crashed";
    case Status::timed_out:
      return "timed out";
    case Status::not_finite:
      return "not finite";
    case Status::wrong_shape:
      return "wrong shape";
  }
  return "unknown";
}

std::optional<double> Outcome::extra(std::string_view name) const {
  const auto found = std::ranges::find(extras, name, &decltype(extras)::value_type::first);
  return found == extras.end() ? std::nullopt : std::optional(found->second);
}

Outcome Outcome::of_value(double value) {
  Outcome o;
  o.value = value;
  return o;
}

Outcome Outcome::of_residuals(std::vector<double> residuals) {
  Outcome o;
  o.value = 0;
  for (double r : residuals) o.value += r * r;
  o.residuals = std::move(residuals);
  return o;
}

Outcome Outcome::failure(Status status, std::string message) {
  Outcome o;
  o.status = status;
  o.message = std::move(message);
  return o;
}

std::string Outcome::not_finite() const {
  if (!ok()) return {};
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    if (!std::isfinite(residuals[i]))
      return fmt::format("residual {} of {} is {}", i, residuals.size(), shown(residuals[i]));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      return fmt::format("objective {} of {} is {}", i + 1, values.size(), shown(values[i]));
  }
  if (!std::isfinite(value)) return fmt::format("the value is {}", shown(value));
  return std::isfinite(violation) ? std::string() : fmt::format("the violation is {}", shown(violation));
}

void Outcome::check_finite() {
  auto fault = not_finite();
  if (fault.empty()) return;
  message = std::move(fault);
  status = Status::not_finite;
  value = std::numeric_limits<double>::quiet_NaN();
}

double merit_of(const Outcome& outcome) {
  return outcome.violation > 0 ? std::numeric_limits<double>::infinity() : outcome.value;
}

bool better(const Outcome& a, const Outcome& b) {
  if (a.ok() != b.ok()) return a.ok();
  if (!a.ok()) return false;
  if (a.violation != b.violation) return a.violation < b.violation;
  return a.value < b.value;
}

}  // namespace culmen
