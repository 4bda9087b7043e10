#include "culmen/evaluation/loss.hpp"

#include <fmt/format.h>

#include <cmath>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr double least_scale = 1e-50, greatest_scale = 1e50;  // the squares of ratios must be finite

double rho(LossKind kind, double z) {
  switch (kind) {
    case LossKind::soft_l1:
      return 2 * z / (1 + std::sqrt(1 + z));
    case LossKind::huber:
      return z <= 1 ? z : 2 * std::sqrt(z) - 1;
    case LossKind::cauchy:
      return std::log1p(z);
    case LossKind::arctan:
      return std::atan(z);
    default:
      return z;
  }
}
}  // namespace

void Loss::check() const {
  if (!(f_scale >= least_scale && f_scale <= greatest_scale))
    throw InputError(
        fmt::format("f_scale must be a number from {:g} to {:g}, got {:g}", least_scale, greatest_scale, f_scale));
}

double Loss::value(std::span<const double> residuals) const {
  double sum = 0;
  for (const double r : residuals) {
    const double ratio = r / f_scale;
    sum += linear() ? r * r : f_scale * f_scale * rho(kind, ratio * ratio);
  }
  return sum;
}

/// ρ' and ρ' + 2 z ρ''.
Loss::Weight Loss::weight(double r) const {
  const double z = r / f_scale * (r / f_scale);
  switch (kind) {
    case LossKind::soft_l1:
      return {1 / std::sqrt(1 + z), 1 / ((1 + z) * std::sqrt(1 + z))};
    case LossKind::huber:
      return z <= 1 ? Weight{} : Weight{1 / std::sqrt(z), 0};
    case LossKind::cauchy:
      return {1 / (1 + z), (1 - z) / (1 + z) / (1 + z)};
    case LossKind::arctan: {
      const double slope = 1 / (1 + z * z);
      return {slope, slope * (1 - 4 * z * z * slope)};
    }
    default:
      return {};
  }
}

void encode(const Loss& loss, ByteWriter& out) {
  out.u8(static_cast<std::uint8_t>(loss.kind));
  out.f64(loss.f_scale);
}

Loss decode_loss(ByteReader& in) {
  const auto kind = in.member(LossKind::arctan, "loss");
  return {kind, in.f64()};
}

}  // namespace culmen
